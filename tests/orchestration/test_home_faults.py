"""A DAGSTER_HOME that cannot be used is found before anything is computed, and the message says what to do."""

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus_assets.cli.doctor.health import findings
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.home.faults import home_fault, require_home
from corpus_assets.orchestration.instance.instance import project_instance
from resources.errors import ConfigError, CorpusError, StorageError
from tests.build.small import opened, write_small
from tests.orchestration.silent import Silent


def _file(home: Path) -> None:
    home.write_text("")


def _below_a_file(home: Path) -> None:
    home.parent.write_text("")


def _dagster_yaml(text: str) -> Callable[[Path], None]:
    def write(home: Path) -> None:
        home.mkdir()
        (home / "dagster.yaml").write_text(text)

    return write


def _settings_are_a_folder(home: Path) -> None:
    (home / "dagster.yaml").mkdir(parents=True)


EARLY = {
    "a file": ("home", _file, r"/home is no folder; remove it, or set DAGSTER_HOME to another folder"),
    "below a file": ("there/home", _below_a_file, r"/there is no folder; remove it, or set DAGSTER_HOME"),
    "settings are a folder": (
        "home",
        _settings_are_a_folder,
        r"remove the folder .*dagster.yaml, where a file has to be",
    ),
    "no YAML": ("home", _dagster_yaml("a: [b"), r"dagster.yaml: not YAML that can be used"),
    "no mapping": ("home", _dagster_yaml("- a"), r"dagster.yaml: received list"),
    "no variable": ("home", _dagster_yaml("a: {env: NO_SUCH_NAME}"), r"a: the environment variable NO_SUCH_NAME"),
}


@pytest.mark.parametrize("case", EARLY)
def test_it_is_found_before_anything_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    name, make, message = EARLY[case]
    make(tmp_path / name)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / name))
    corpus = opened(write_small(tmp_path / "corpus"))
    with pytest.raises(CorpusError, match=message) as found:
        build(corpus, list(corpus.graph), Silent())
    assert len(str(found.value).splitlines()) == 1
    assert not list(corpus.ledger.assets())


@pytest.mark.parametrize("named", ["home", "./home", "~/home"])
def test_a_path_that_is_not_absolute_is_refused_with_one_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", named)
    with pytest.raises(ConfigError, match=f"DAGSTER_HOME: received '{named}'.*such as {tmp_path}/home$"):
        require_home(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["telemetri: {enabled: false}", "telemetry: {enabled: perhaps}"])
def test_settings_that_dagster_refuses_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    _dagster_yaml(text)(tmp_path / "home")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    with pytest.raises(ConfigError, match=r"home/dagster.yaml: Dagster refuses it: .*telemetr") as found:
        project_instance(tmp_path)
    assert len(str(found.value).splitlines()) == 1


def test_a_damaged_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = tmp_path / "home/history/runs.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database" * 100)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    with pytest.raises(StorageError, match=f"{database} is damaged; move it away"):
        project_instance(tmp_path)


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "make room"),
        (PermissionError(errno.EACCES, "Permission denied"), "make it writable for this user"),
        (OSError(errno.EROFS, "Read-only file system"), "make it writable for this user"),
        (sqlite3.OperationalError("database or disk is full"), "make room"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "make it writable for this user"),
        (OSError(errno.ENOENT, "No such file or directory", "/proc/none"), "correct .*/dagster.yaml, which names that"),
    ],
)
def test_the_advice_fits_the_cause(tmp_path: Path, cause: OSError | sqlite3.Error, advice: str) -> None:
    with pytest.raises(StorageError, match=advice):
        raise home_fault(tmp_path, cause)


def test_doctor_finds_it_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_small(tmp_path / "corpus")
    monkeypatch.setenv("DAGSTER_HOME", "home")
    (found,) = [one for one in findings(lambda: opened(folder)) if one.subject == "dagster home"]
    assert found.broken
    assert "valid is an absolute path" in found.found
    assert not (folder / "home").exists()


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "correct .*dagster.yaml, which names that place"),
        (errno.ENOENT, "correct .*dagster.yaml, which names that place"),
        (errno.EMFILE, "set DAGSTER_HOME to another folder"),
        (errno.EIO, "set DAGSTER_HOME to another folder"),
    ],
)
def test_a_setting_is_to_be_corrected_only_if_the_machine_can_look_at_its_place(number: int, advice: str) -> None:
    with pytest.raises(StorageError, match=advice) as found:
        raise home_fault(Path("/home/one"), OSError(number, "why", "/elsewhere/file"))
    assert "(why: /elsewhere/file)" in str(found.value)
