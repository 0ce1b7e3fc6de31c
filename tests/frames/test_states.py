"""Frames have the same columns whatever is built, and lose nothing that is odd."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest

from corpus_assets import frames
from corpus_assets.corpus.step import Step
from corpus_assets.frames import Frames
from corpus_assets.orchestration.freshness.failures import KeptFailures
from tests.build.small import drive, opened, write_config, write_small
from tests.report.conftest import build

TABLES = ("records", "plan", "dropped", "histograms", "splits", "datasets", "tokens")
STREAMS = {"documents": ("normalized_documents",), "attributes": ("short_documents",)}


def types(found: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in found.dtypes.items()}


def declared(method: str) -> dict[str, str]:
    """The columns and types that the docstring of a method lists."""
    lines = re.findall(r"^- ([a-z_, ]+): ([\w\[\], ]+)", inspect.getdoc(getattr(Frames, method)) or "", re.MULTILINE)
    return {
        name: kind.partition(",")[0] if "[" not in kind else kind for names, kind in lines for name in names.split(", ")
    }


def all_types(folder: Path) -> dict[str, dict[str, str]]:
    corpus = frames.open(folder)
    found = {name: types(getattr(corpus, name)()) for name in TABLES}
    for name, arguments in STREAMS.items():
        known = corpus.records()
        built = known[known.asset == arguments[0]].partition.tolist()
        for one in getattr(corpus, name)(*arguments, built):
            found[name] = types(one)
    return found


def nothing_built(folder: Path) -> None:
    write_small(folder)


def no_raw_files(folder: Path) -> None:
    for name in ("books", "web", "notes"):
        (folder / "raw" / name).mkdir(parents=True)
    write_config(folder)
    drive(opened(folder))


def partly_built(folder: Path) -> None:
    corpus = opened(write_small(folder))
    assert not drive(corpus, corpus.graph.select(["+short_documents"])).failed


def failed(folder: Path) -> None:
    write_small(folder)
    (folder / "raw/books/one.jsonl").write_bytes(b"\x1f\x8b no gzip")
    (folder / "raw/books/one.jsonl").rename(folder / "raw/books/one.jsonl.gz")
    corpus = opened(folder)
    stages = corpus.graph.select(["+normalized_documents"])
    assert drive(corpus, stages[:-1]).failed == []
    step = Step(corpus, stages[-1])
    step.run()
    assert len(step.failures()) == 1
    for outcome in step.outcomes:
        KeptFailures(corpus.storage).note(step.planner, outcome)


@pytest.mark.parametrize("state", [nothing_built, no_raw_files, partly_built, failed])
def test_columns_are_those_that_the_docstrings_list(tmp_path: Path, state: Callable[[Path], None]) -> None:
    state(tmp_path)
    found = all_types(tmp_path)
    assert found == {name: declared(name) for name in (*TABLES, *STREAMS)}


def test_columns_of_a_whole_corpus_are_the_same(built_once: Path) -> None:
    assert all_types(built_once) == {name: declared(name) for name in (*TABLES, *STREAMS)}


def test_a_plan_tells_what_failed_and_what_waits(tmp_path: Path) -> None:
    failed(tmp_path)
    plan: Any = frames.open(tmp_path).plan().set_index(["asset", "partition"])
    row = plan.loc["normalized_documents", "books--one"]
    assert (row.status, row.source) == ("missing", "books")
    assert "books/one.jsonl.gz" in row.failure
    assert plan.loc["short_documents", "books--one"].waits_for == "normalized_documents/books--one is missing"
    assert plan.loc["short_documents", "books--two"].failure == ""


def test_partitions_that_are_gone_are_orphans_and_in_no_total(folder: Path) -> None:
    before = frames.open(folder)
    documents = before.records().groupby("asset", observed=True).rows_out.sum()["normalized_documents"]
    (folder / "raw/books/three.jsonl").unlink()
    after = frames.open(folder)
    plan = after.plan()
    orphans = plan[plan.status == "orphan"]
    assert set(orphans.partition) == {"books--three"}
    assert "normalized_documents" in set(orphans.asset)
    now = after.records().groupby("asset", observed=True).rows_out.sum()["normalized_documents"]
    assert now == documents - 6


def test_totals_say_how_many_partitions_they_are_of(folder: Path) -> None:
    corpus = opened(folder)
    for asset in ("train_tokens", "train_sequences", "validation"):
        corpus.ledger.forget(asset, "chunk-0001")
    found = frames.open(folder)
    for one in (found.tokens().set_index("dataset"), found.datasets().set_index("dataset")):
        assert set(one.built.loc[["train"]]) == {2}
        assert set(one.built.loc[["megatron"]]) == {3}
        assert set(one.partitions) == {3}
    assert set(found.splits().set_index("split").built.loc[["validation"]]) <= {2}


def test_a_source_that_the_configuration_lost_keeps_its_name(tmp_path: Path) -> None:
    build(write_small(tmp_path))
    before = frames.open(tmp_path).splits()
    config = (tmp_path / "corpus.yaml").read_text()
    changed = re.sub(r"- name: web\n  location: raw/web\n  epochs: 1.5\n", "", config)
    assert changed != config
    (tmp_path / "corpus.yaml").write_text(changed)
    after = frames.open(tmp_path).splits()
    assert after.source.cat.categories.tolist() == ["books", "notes", "web"]
    columns = ["documents", "text_bytes"]
    pd.testing.assert_frame_equal(after[columns], before[columns])


def test_numbers_that_were_not_counted_are_missing_and_no_zeros(folder: Path) -> None:
    corpus = opened(folder)
    for asset in ("train", "mixed_pass2"):
        for record in corpus.ledger.records(asset).values():
            known = {"dropped": {"odd": 2}} if asset == "mixed_pass2" else {"rows_out": record.statistics["rows_out"]}
            corpus.ledger.write(msgspec.structs.replace(record, statistics=known))
    found = frames.open(folder)
    train = found.splits().set_index("split").loc[["train"]]
    assert train.source.isna().all()
    records = found.records().set_index("asset")
    assert train.documents.tolist() == [records.rows_out.loc[["train"]].sum()]
    assert records.text_bytes.loc[["train"]].isna().all()
    assert records.rows_out.loc[["mixed_pass2"]].isna().all()
    odd = found.dropped().set_index("asset").loc[["mixed_pass2"]]
    assert odd.source.isna().all()
    assert odd.rows.tolist() == [2, 2, 2]
