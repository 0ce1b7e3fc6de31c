"""Lengths are counted once; partitions that were made before they were stored are measured anew, to the same rows."""

from pathlib import Path

import msgspec

from resources.ledger import Record
from tests.build.small import drive, opened, prose, statuses, write_config, write_raw


def without_lengths(record: Record) -> Record:
    return msgspec.structs.replace(record, files=[file for file in record.files if not file.derived])


def test_documents_without_lengths_are_fresh_and_give_the_same_list(tmp_path: Path) -> None:
    texts = [prose("a", 60), "short\u2003 \u0130 text.", "", "caf\u0065\u0301 " * 30]
    write_raw(tmp_path, "books/one.jsonl", [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)])
    write_config(tmp_path, {"sources": [{"name": "books", "location": "raw/books", "may_be_empty": True}]})
    drive(opened(tmp_path))
    corpus = opened(tmp_path)
    (before,) = corpus.ledger.records("normalized_documents").values()
    (expected,) = corpus.ledger.records("short_documents").values()
    assert [file.derived for file in before.files if file.path.endswith(".lengths.npy")] == [True]
    corpus.ledger.write(without_lengths(before))
    corpus.ledger.forget("short_documents", "books--one")
    corpus = opened(tmp_path)
    assert {asset for asset, _ in statuses(corpus.planner().plan())} >= {"short_documents"}
    assert ("normalized_documents", "books--one") not in statuses(corpus.planner().plan())
    drive(corpus)
    (again,) = opened(tmp_path).ledger.records("short_documents").values()
    assert (again.digest, again.recipe) == (expected.digest, expected.recipe)
