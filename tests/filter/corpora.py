"""Small corpora with a filter, and what the tests ask of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from resources.formats.documents import Document
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, write_config, write_raw, write_small

QUALITY = {"name": "quality", "taggers": ["c4_v2", "gopher_v2"]}
ONE = "books--one"


def small(folder: Path, section: Mapping[str, Any] | None, **changes: Any) -> Corpus:
    """The small corpus with an entry of attributes and a section `filter`."""
    if not (folder / "raw").exists():
        write_small(folder)
    with_filter = {} if section is None else {"filter": dict(section)}
    write_config(folder, {"attributes": [QUALITY], **with_filter, **changes})
    return opened(folder)


def filtered(corpus: Corpus) -> Corpus:
    """The same corpus, with all its filtered documents computed."""
    done = drive(corpus, corpus.graph.select(["+filtered_documents"]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def partitions(corpus: Corpus, asset: str) -> dict[str, Partition]:
    records = corpus.ledger.records(asset)
    return {key or "": Partition(corpus.storage, record) for key, record in sorted(records.items(), key=str)}


def documents(corpus: Corpus, asset: str) -> list[Document]:
    return [document for partition in partitions(corpus, asset).values() for document in partition.documents()]


def changes(corpus: Corpus) -> list[dict[str, Any]]:
    """Every row of the lists of changes."""
    found = partitions(corpus, "filtered_documents").values()
    return [json.loads(line) for partition in found for line in partition.lines(".changes.jsonl.gz")]


def write_texts(folder: Path, texts: Iterable[str], path: str = "books/more.jsonl") -> None:
    """Write a raw file with these texts."""
    write_raw(folder, path, [{"id": f"more-{n}", "text": text} for n, text in enumerate(texts)])


def words(count: int) -> str:
    return prose(count, count)
