"""A corpus is looked at in several ways, each an `Opened`: all find the same records and read the same partitions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus_assets.corpus.opened import Opened
from corpus_assets.diff.opened import open_side
from corpus_assets.tracing.look import Look
from corpus_assets.viewer.opened import View
from tests.build.small import opened

WAYS: dict[str, Callable[[Path], Opened | None]] = {
    "Corpus": opened,
    "Look": lambda folder: Look(opened(folder)),
    "View": lambda folder: View(folder / "corpus.yaml"),
    "Side of a corpus.yaml": lambda folder: open_side(folder / "corpus.yaml").stored,
    "Side of a store": lambda folder: open_side(folder / "corpus").stored,
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, built_once: Path) -> Opened:
    found = WAYS[request.param](built_once)
    assert found is not None
    return found


def test_all_find_the_same_records(way: Opened, built_once: Path) -> None:
    corpus = opened(built_once)
    for asset in corpus.graph.stages:
        records = way.records(asset)
        assert records == corpus.ledger.records(asset)
        for key, record in records.items():
            made = way.partition(asset, key)
            assert made is not None
            assert (made.record, made.name) == (record, way.handle(record).name)


def test_all_read_the_same_rows(way: Opened, built_once: Path) -> None:
    record = way.records("normalized_documents")["books--one"]
    made = way.partition("normalized_documents", "books--one")
    assert made is not None
    rows = list(made.documents())
    assert len(rows) == record.statistics["rows_out"] > 0
    assert list(way.handle(record).documents()) == rows


def test_what_is_not_there_is_none(way: Opened) -> None:
    assert way.partition("normalized_documents", "books--none") is None
    assert way.partition("normalized_documents", None) is None
    assert way.partition("nothing", None) is None
    assert way.records("nothing") == {}
