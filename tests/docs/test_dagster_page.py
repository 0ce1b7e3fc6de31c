"""The page for those who know Dagster: its assets, its workspace and its commands work on a small corpus."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.jobs import build_job, corpus_schedule
from corpus_assets.orchestration.sensor import corpus_sensor
from docs.generate import FOLDER
from tests.build.small import drive, opened, write_small

PAGE = (FOLDER / "dagster.md").read_text(encoding="utf-8")
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def blocks(language: str) -> list[str]:
    """Code blocks of the page."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that is built without Dagster, with the files of the page beside it."""
    found = write_small(tmp_path_factory.mktemp("page"))
    corpus = opened(found)
    assert not drive(corpus, list(corpus.graph)).failed
    for code in blocks("python"):
        (found / code.partition("\n")[0].removeprefix("# ")).write_text(code)
    (found / "workspace.yaml").write_text(next(one for one in blocks("yaml") if one.startswith("load_from")))
    return found


@pytest.mark.slow
def test_the_commands_run_in_their_order(folder: Path) -> None:
    """One shell for all, since the first sets variables."""
    environment = {name: value for name, value in os.environ.items() if name != "CORPUS_CONFIG"}
    ended = subprocess.run(
        ["bash", "-ec", "\n".join(blocks("sh"))],
        cwd=folder,
        env=environment | {"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"
    assert "Warning" not in ended.stderr
    assert "asked for 1: computed 0, fresh 1" in ended.stderr


def test_a_location_of_ones_own_reads_where_the_raw_files_are_not(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents and tokens, through our IO managers: what the assets of `mine.py` report is what was built."""
    shutil.copytree(folder, tmp_path / "restored", ignore=shutil.ignore_patterns("raw", ".dagster_home"))
    monkeypatch.setenv("CORPUS_CONFIG", str(tmp_path / "restored" / "corpus.yaml"))
    found: dict[str, dg.Definitions] = {}
    exec(compile((folder / "mine.py").read_text(), "mine.py", "exec"), found)
    ledger = Corpus.open().ledger
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("shard", ["books--one"])
        for asset, key, name in (("longest", "books--one", "characters"), ("rows", "chunk-0001", "rows")):
            ended = (
                found["defs"]
                .resolve_implicit_global_asset_job_def()
                .execute_in_process(instance=instance, partition_key=key, asset_selection=[dg.AssetKey(asset)])
            )
            (event,) = ended.asset_materializations_for_node(asset)
            assert int(str(event.metadata[name].value)) > 0
    tokens = ledger.read("train_tokens", "chunk-0001")
    assert tokens is not None
    assert event.metadata["rows"].value == sum(file.rows or 0 for file in tokens.files if file.path.endswith(".h5"))


def test_what_runs_by_itself_has_the_names_of_the_page(folder: Path) -> None:
    corpus = opened(folder)
    job = build_job(corpus)
    sensor, schedule = corpus_sensor(corpus, job), corpus_schedule(job)
    for name in (job.name, sensor.name, schedule.name):
        assert f"`{name}`" in PAGE
    assert {sensor.default_status.value, schedule.default_status.value} == {"STOPPED"}


def test_assets_that_the_page_lists_have_such_partitions(folder: Path) -> None:
    corpus = opened(folder)
    planner = corpus.planner()
    rows = re.findall(r"^\| `((?:books|band|range|chunk)-[-\w]+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 4
    for key, assets in rows:
        named = re.findall(r"`(\w+)`", assets)
        assert named
        for name in named:
            keys = planner.partitions(corpus.graph[name])
            assert all(re.sub(r"\d", "0", one or "") == re.sub(r"\d", "0", key) for one in keys) or key in keys
