"""Benchmarks with items in documents, and what a build finds of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.build.small import Built, drive, opened, prose, write_config

SUMS = {"name": "sums", "location": "eval/sums", "text_key": ["question", "answer"]}
FACTS = {"name": "facts-1.0", "location": "eval/facts"}


def write_items(folder: Path, path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write an evaluation file of JSON lines."""
    file = folder / "eval" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def configure(folder: Path, benchmarks: Sequence[Mapping[str, Any]], **changes: Any) -> Corpus:
    """Write the small configuration with benchmarks; `__` in a key stands for a dot."""
    values = {key.replace("__", "."): value for key, value in changes.items()}
    write_config(folder, {"benchmarks": list(benchmarks), **values})
    return opened(folder)


def searched(corpus: Corpus) -> Built:
    """Build all up to the report."""
    built = drive(corpus, corpus.graph.select(["+contamination_report"]))
    assert built.failed == [], built.failed
    assert built.waiting == []
    return built


def partitions(corpus: Corpus, asset: str) -> dict[str, Partition]:
    records = corpus.ledger.records(asset)
    planned = corpus.planner().partitions(corpus.graph[asset])
    return {key or "": Partition(corpus.storage, records[key]) for key in planned if key in records}


def marked(corpus: Corpus) -> dict[str, tuple[Document, AttributeRow]]:
    """Every document with its row of attributes, by id."""
    found = {}
    rows = partitions(corpus, "contamination_attributes")
    for key, documents in partitions(corpus, "normalized_documents").items():
        pairs = zip(documents.documents(), attribute_rows(rows[key].lines()), strict=True)
        for document, row in pairs:
            assert (document.id, document.source) == (row.id, row.source)
            found[document.id] = (document, row)
    return found


def report(corpus: Corpus) -> dict[str, Any]:
    """What the report says of each benchmark."""
    found: dict[str, Any] = partitions(corpus, "contamination_report")[""].json()
    return found["benchmarks"]  # type: ignore[no-any-return]


def shares(row: AttributeRow) -> dict[str, float]:
    """The share of each item that a document holds, by id."""
    return {str(item["id"]): float(item["share"]) for item in row.items or []}


def item(seed: int | str, words: int = 30) -> str:
    """The text of a made-up item."""
    return prose(f"item {seed}", words)
