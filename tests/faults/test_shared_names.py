"""Partitions that share names of files: whatever is built and killed, no record stands over a file of another."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.copying import copy_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.unowned import unowned_files
from corpus_assets.verification.verify import verify
from resources.ledger.ledger import Ledger
from tests.build.small import contents, drive, opened, statuses, write_config, write_small
from tests.export.test_every_format import FORMATS, dataset
from tests.faults.kill_in_stage import MOMENTS, kill


def configure(folder: Path, chunks: int, *datasets: dict[str, Any]) -> None:
    write_config(folder, {"mix.chunks": chunks, "datasets": list(datasets)})


def sound(corpus: Corpus) -> None:
    """No record says anything of a file that is not so, and no path has two records."""
    assert verify(corpus, deep=True).bad == []
    named = [file.path for asset in corpus.ledger.assets() for file in files_of(corpus.ledger, asset)]
    assert len(named) == len({*named})


def files_of(ledger: Ledger, asset: str) -> Iterator[Any]:
    return (file for record in ledger.records(asset).values() for file in record.files)


@pytest.mark.slow
def test_every_format_with_more_and_fewer_chunks(tmp_path: Path) -> None:
    write_small(tmp_path)
    found: dict[int, dict[str, str]] = {}
    for chunks in (2, 1, 3, 2, 1, 3):
        configure(tmp_path, chunks, *map(dataset, FORMATS), {"name": "rows", "sequence_length": 64, "shuffle": True})
        done = drive(opened(tmp_path))
        assert (done.failed, done.waiting) == ([], [])
        sound(opened(tmp_path))
        assert statuses(opened(tmp_path).planner().plan()) == {}
        assert contents(opened(tmp_path)) == found.setdefault(chunks, contents(opened(tmp_path)))


def test_amber_with_other_numbers_of_its_own_chunks(tmp_path: Path) -> None:
    """What a record that gave way named besides is removed too."""
    write_small(tmp_path)
    for amber, chunks in ((5, 3), (2, 1), (2, 2), (3, 1), (2, 2), (1, 3), (3, 1)):
        configure(tmp_path, chunks, dataset("amber", chunks=amber))
        assert drive(opened(tmp_path)).failed == []
        sound(opened(tmp_path))
        assert unowned_files(opened(tmp_path), opened(tmp_path).ledger) == []


@pytest.mark.slow
def test_killed_between_two_numbers_of_chunks(tmp_path: Path) -> None:
    """In Amber, whose files are numbered through all partitions."""
    write_small(tmp_path)
    name = "amber"
    for number, moment in enumerate(MOMENTS):
        configure(tmp_path, 1 + number % 2, dataset(name))
        assert drive(opened(tmp_path)).failed == []
        configure(tmp_path, 2 - number % 2, dataset(name))
        kill(tmp_path, f"{name}_tokens", moment)
        sound(opened(tmp_path))
        configure(tmp_path, 1 + number % 2, dataset(name))
        done = drive(opened(tmp_path))
        assert (done.failed, done.waiting) == ([], [])
        sound(opened(tmp_path))


def test_a_copy_over_a_store_with_another_number_of_chunks(tmp_path: Path) -> None:
    write_small(tmp_path)
    for chunks in (2, 1, 2):
        configure(tmp_path, chunks, dataset("amber"))
        assert drive(opened(tmp_path)).failed == []
        copy = Corpus.open(tmp_path / "corpus.yaml", ["storage.root=copy"])
        assert copy_corpus(opened(tmp_path), copy).errors == []
        sound(Corpus.open(tmp_path / "corpus.yaml", ["storage.root=copy"]))
