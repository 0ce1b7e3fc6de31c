"""`dagster asset materialize --partition` works in an empty DAGSTER_HOME over a store that is built."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from corpus_assets.definitions import defs
from corpus_assets.orchestration.home.folder import HOME_VARIABLE
from corpus_assets.orchestration.instance import migrations
from corpus_assets.orchestration.instance.instance import project_instance
from tests.build.small import opened

SHARD = "books--one"
READER = """
import dagster as dg

from corpus_assets import definitions as corpus
from partitions.definitions import shards


@dg.asset(partitions_def=shards())
def lengths(normalized_documents) -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"documents": len(normalized_documents)})


@dg.definitions
def defs() -> dg.Definitions:
    return dg.Definitions.merge(corpus.defs(), dg.Definitions(assets=[lengths]))
"""


@pytest.fixture
def folder(built_corpus: Path, tmp_path: Path) -> Path:
    """The corpus restored at another place, with an empty DAGSTER_HOME beside it."""
    shutil.copytree(built_corpus, tmp_path / "restored")
    (tmp_path / "home").mkdir()
    return tmp_path / "restored"


def materialize(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`dagster asset materialize`, as CI would run it."""
    environment = {
        **os.environ,
        HOME_VARIABLE: str(folder.parent / "home"),
        "CORPUS_CONFIG": str(folder / "corpus.yaml"),
    }
    command = [sys.executable, "-m", "dagster", "asset", "materialize", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_partition_is_materialized_in_an_empty_home(folder: Path) -> None:
    ended = materialize(
        folder, "-m", "corpus_assets.definitions", "--select", "normalized_documents", "--partition", SHARD
    )
    assert ended.returncode == 0, ended.stderr
    assert "asked for 1: computed 0, fresh 1" in ended.stderr


@pytest.mark.slow
def test_what_is_built_is_read_where_the_raw_files_are_not(folder: Path) -> None:
    shutil.rmtree(folder / "raw")
    (folder / "mine.py").write_text(READER)
    ended = materialize(folder, "-f", "mine.py", "--select", "lengths", "--partition", SHARD)
    assert ended.returncode == 0, ended.stderr
    with dg.DagsterInstance.from_config(str(folder.parent / "home")) as instance:
        assert set(instance.get_dynamic_partitions("shard")) == opened(folder).ledger.records("raw_source").keys()


def test_a_home_that_knows_shards_is_left_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(folder.parent / "home"))
    monkeypatch.setenv("CORPUS_CONFIG", str(folder / "corpus.yaml"))
    with dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions("shard", [SHARD])
        defs()
        assert instance.get_dynamic_partitions("shard") == [SHARD]


def test_a_home_that_cannot_be_used_is_a_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(folder.parent / "nowhere"))
    monkeypatch.setenv("CORPUS_CONFIG", str(folder / "corpus.yaml"))
    assert defs().assets
    said = caplog.text
    assert "the shards could not be registered in the DAGSTER_HOME" in said
    assert "materializing `inventory`" in said


def test_the_scripts_of_a_database_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dagster would read those of all its databases again at each look at one of them."""
    read: list[str] = []

    def from_config(config: Config) -> ScriptDirectory:
        read.append(str(config.config_file_name))
        return given(config)

    given = migrations._read_from
    monkeypatch.setattr(migrations, "_read_from", from_config)
    monkeypatch.setattr(migrations, "_KNOWN", {})
    for name in ("one", "another"):
        with project_instance(tmp_path / name) as instance:
            assert instance.get_runs_count() == 0
    assert sorted(read) == sorted(set(read))
    assert len(read) == 3
