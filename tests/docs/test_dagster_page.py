"""The page for those who know Dagster: its assets, its workspace and its commands work on a small corpus."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, get_type_hints

import dagster as dg
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.jobs import build_job, corpus_schedule
from corpus_assets.orchestration.sensor import corpus_sensor
from docs.generate import FOLDER
from resources import Arrays, LazyRows, Partition, TokenRows
from resources.io_managers import io_managers
from tests.build.small import CONFIG, drive, opened, write_small
from tests.forked import path_of_commands

PAGE = (FOLDER / "dagster.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Code blocks of the page."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def partition_of(corpus: Corpus, asset: str, key: str | None) -> Partition:
    found = corpus.partition(asset, key)
    assert found is not None
    return found


def location_of(file: Path) -> dg.Definitions:
    """What Dagster loads from a file of the page."""
    found: dict[str, Any] = {}
    exec(compile(file.read_text(), file.name, "exec"), found)
    defs = found["defs"]
    location = defs if isinstance(defs, dg.Definitions) else defs(None)
    assert isinstance(location, dg.Definitions)
    return location


def materialized(location: dg.Definitions, asset: str, key: str) -> dict[str, Any]:
    """The metadata of one partition of an asset, once it is materialized."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("shard", ["books--one"])
        job = location.resolve_implicit_global_asset_job_def()
        ended = job.execute_in_process(instance=instance, partition_key=key, asset_selection=[dg.AssetKey(asset)])
        (event,) = ended.asset_materializations_for_node(asset)
    return {name: one.value for name, one in event.metadata.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that is built without Dagster, with the files of the page beside it."""
    datasets = [*CONFIG["datasets"], {"name": "megatron", "format": "megatron", "input": "decontaminated_train"}]
    found = write_small(tmp_path_factory.mktemp("page"), {"datasets": datasets})
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
        env=environment | {"PATH": path_of_commands()},
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
    location = location_of(folder / "mine.py")
    corpus = Corpus.open()
    documents = partition_of(corpus, "normalized_documents", "books--one").documents()
    longest = max(len(document.text) for document in documents)
    assert materialized(location, "longest", "books--one") == {"characters": longest}
    rows = len(TokenRows(partition_of(corpus, "train_tokens", "chunk-0001")))
    assert materialized(location, "rows", "chunk-0001") == {"rows": rows}
    assert rows > 0


def test_assets_in_our_location_get_the_handles_that_the_page_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORPUS_CONFIG", str(folder / "corpus.yaml"))
    location = location_of(folder / "with_mine.py")
    corpus = Corpus.open()
    texts = [document.text for document in partition_of(corpus, "normalized_documents", "books--one").documents()]
    assert materialized(location, "characters", "books--one") == {
        "documents": len(texts),
        "short": sum(len(text) < 60 for text in texts),
        "characters": sum(map(len, texts)),
        "different": len({*map(bytes, Arrays(partition_of(corpus, "minhashes", "books--one"))())}),
    }
    tokens = TokenRows(partition_of(corpus, "train_tokens", "chunk-0001"))
    with tokens.open() as file:
        assert materialized(location, "learned", "chunk-0001") == {
            "rows": len(tokens),
            "tokens": int(file["data"][:, 1].sum()),
        }


def test_arguments_are_of_the_types_that_the_page_lists(folder: Path) -> None:
    corpus = opened(folder)
    wrapped = {
        io: type(manager).wrap for io, manager in io_managers(corpus.storage, corpus.ledger, corpus.graph).items()
    }
    kinds = {io: get_type_hints(wrap)["return"] for io, wrap in wrapped.items()}
    listed = re.findall(r"^\| (`\w+`[^|]*) \| `(\w+)(?:\[(\w+)\])?` \| ", PAGE, re.MULTILINE)
    assert {handle for _, handle, _ in listed} == {"LazyRows", "TokenRows", "Arrays", "Partition"}
    for assets, handle, row in listed:
        for name in set(re.findall(r"`(\w+)`", assets)) & corpus.graph.stages.keys():
            kind = kinds[corpus.graph[name].io]
            assert kind.__name__ == handle, name
            keys = corpus.planner().partitions(corpus.graph[name])
            rows = (row for key in keys for row in LazyRows(partition_of(corpus, name, key))) if row else ()
            assert {type(one).__name__ for one in rows} <= {row}, name


def test_arrays_have_the_types_and_axes_that_the_page_lists(folder: Path) -> None:
    corpus = opened(folder)
    calls = re.findall(r'^\| `(\w+)\((?:"(.+)")?\)` \| (\w+) \| \((.+)\) \|$', PAGE, re.MULTILINE)
    assert len(calls) == 12
    for asset, suffix, dtype, axes in calls:
        for key in corpus.planner().partitions(corpus.graph[asset]):
            partition = partition_of(corpus, asset, key)
            array = Arrays(partition)(suffix or None)
            assert array.dtype == dtype, asset
            sizes = {
                "documents": partition.record.statistics.get("rows_out"),
                "permutations": 64,
                "bands": 3,
                "bits / 8": 128,
            }
            named = [axis for axis in axes.split(", ") if axis]
            for axis, size in zip((axis.strip(",") for axis in named), array.shape, strict=True):
                assert size == (int(axis) if axis.isdigit() else sizes.get(axis, size)), f"{asset} {axis}"


def test_the_picture_is_of_the_groups_that_the_sample_has() -> None:
    """`python -m benchmarks.group_graph` draws it again, and prints its groups."""
    graph = Corpus.open(FOLDER.parent / "corpus.yaml", read_only=True).graph
    ((listed, picture),) = re.findall(r"!\[Groups of the sample corpus, from left to right: (.+)\]\((.+)\)", PAGE)
    groups = listed.split(", ")
    assert sorted(groups) == sorted(graph.groups())
    for stage in graph:
        for edge in stage.inputs:
            assert groups.index(graph[edge.asset].group) <= groups.index(stage.group)
    assert (FOLDER / picture).stat().st_size < 200_000


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
