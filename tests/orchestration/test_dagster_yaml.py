"""The dagster.yaml of a DAGSTER_HOME: Postgres while its variable is set, and a user's own file as it was written."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.storage.event_log import SqliteEventLogStorage

from corpus_assets.orchestration.home.dagster_yaml import DEFAULTS, STORAGE
from corpus_assets.orchestration.home.postgres import VARIABLE
from corpus_assets.orchestration.instance.instance import prepare, project_instance
from resources.errors import ConfigError

URL = "postgresql+psycopg2://user:secret@127.0.0.1:1/dagster"
OWN = "# Ours.\ntelemetry:\n  enabled: false   # nothing is sent\nretention:\n  sensor:\n    purge_after_days: 3"


@pytest.fixture(autouse=True)
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if dagster-postgres were installed: the file alone is looked at while the variable is set."""
    monkeypatch.setattr("corpus_assets.orchestration.home.postgres.find_spec", lambda name: name)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture(params=["defaults", "beside corpus.yaml", "in a home elsewhere"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The DAGSTER_HOME of each layout, before its first use; with the file of a user in two of them."""
    if request.param == "beside corpus.yaml":
        (tmp_path / "dagster.yaml").write_text(OWN)
    if request.param != "in a home elsewhere":
        return tmp_path / ".dagster_home"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "dagster.yaml").write_text(OWN)
    monkeypatch.setenv("DAGSTER_HOME", str(elsewhere))
    return elsewhere


def text_with(home: Path, url: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The dagster.yaml after the home was made ready, with the variable set or not."""
    if url is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, url)
    assert prepare(folder) == home
    return (home / "dagster.yaml").read_text()


def settings_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_postgres_comes_and_goes_with_the_variable(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = text_with(home, None, tmp_path, monkeypatch)
    assert settings_of(without) in (DEFAULTS, yaml.safe_load(OWN))
    for _ in range(2):
        using = text_with(home, URL, tmp_path, monkeypatch)
        assert settings_of(using) == settings_of(without) | STORAGE
        assert using.startswith(without)
        assert "secret" not in using
        assert text_with(home, URL, tmp_path, monkeypatch) == using
        assert text_with(home, None, tmp_path, monkeypatch) == without
    with project_instance(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, SqliteEventLogStorage)


def test_a_home_that_began_with_postgres_goes_on_without(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "storage" in settings_of(text_with(home, URL, tmp_path, monkeypatch))
    assert "storage" not in settings_of(text_with(home, None, tmp_path, monkeypatch))
    with project_instance(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, SqliteEventLogStorage)
    assert "storage" in settings_of(text_with(home, URL, tmp_path, monkeypatch))


def test_a_file_that_says_where_runs_are_is_left_alone_and_a_variable_that_is_not_set_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ".dagster_home"
    home.mkdir()
    own = f"{OWN}\nstorage: {{sqlite: {{base_dir: {{env: {VARIABLE}}}}}}}\n"
    (home / "dagster.yaml").write_text(own)
    assert text_with(home, URL, tmp_path, monkeypatch) == own
    assert text_with(home, None, tmp_path, monkeypatch) == own
    with pytest.raises(ConfigError) as refused:
        project_instance(tmp_path)
    assert str(refused.value) == (
        f"{home}/dagster.yaml: storage.sqlite.base_dir: the environment variable {VARIABLE} is not set; set it, or "
        "change this entry"
    )
    assert (home / "dagster.yaml").read_text() == own


@pytest.mark.parametrize("own", ["{telemetry: {enabled: false}}\n", "telemetry: {enabled: false}\n...\n"])
def test_a_file_that_takes_no_section_is_refused_and_left_alone(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ".dagster_home"
    home.mkdir()
    (home / "dagster.yaml").write_text(own)
    with pytest.raises(ConfigError, match="no section `storage` can be added to the end of this file; valid is one"):
        text_with(home, URL, tmp_path, monkeypatch)
    assert text_with(home, None, tmp_path, monkeypatch) == own


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: [", "not YAML that can be used: "),
        (b"user: me\npassword: @secret", "not YAML that can be used: found character '@' .* in line 2$"),
        (b"- a", "received list; valid is a mapping"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / ".dagster_home").mkdir()
    (tmp_path / ".dagster_home/dagster.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=rf"dagster_home/dagster.yaml: {words}"):
        prepare(tmp_path)
    assert (tmp_path / ".dagster_home/dagster.yaml").read_bytes() == content


def test_a_file_keeps_its_link_and_its_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, home = tmp_path / "kept.yaml", tmp_path / ".dagster_home"
    home.mkdir()
    kept.write_text(OWN)
    kept.chmod(0o600)
    (home / "dagster.yaml").symlink_to(kept)
    assert "storage" in settings_of(text_with(home, URL, tmp_path, monkeypatch))
    assert (home / "dagster.yaml").readlink() == kept
    assert kept.stat().st_mode & 0o777 == 0o600
    assert text_with(home, None, tmp_path, monkeypatch) == OWN
    assert kept.read_text() == OWN
