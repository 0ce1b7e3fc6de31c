"""Corpora of one dataset that reads files of ids, and what is expected of its stream."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.token_stream import DATA, LENGTHS
from tests.build.small import Built, drive, opened, write_config
from tests.export.exported import partitions

IDS = {"kind": "ids", "vocabulary": 300, "eos": 0}


def corpus_of(folder: Path, given: Mapping[str, Any], **dataset: Any) -> Corpus:
    """A corpus whose only dataset reads files of ids. given: its input."""
    entry = {"name": "again", "format": "ragged", "input": {"location": "tokens", **given}, "tokenizer": IDS, **dataset}
    write_config(folder, {"sources": [], "datasets": [entry]})
    return opened(folder)


def built(folder: Path, given: Mapping[str, Any], **dataset: Any) -> tuple[Corpus, Built]:
    """The same, and what was built of its stream."""
    corpus = corpus_of(folder, given, **dataset)
    return corpus, drive(corpus, corpus.graph.select(["+again_token_stream"]))


def documents(corpus: Corpus, asset: str = "again_token_stream") -> dict[str, list[list[int]]]:
    """The ids of every document of each partition of a stream."""
    found = {}
    for stream in partitions(corpus, asset):
        data, place = stream.array(DATA).tolist(), 0
        found[stream.key or ""] = rows = []
        for length in stream.array(LENGTHS).tolist():
            rows.append(data[place : place + length])
            place += length
        assert place == len(data)
    return found


def read_back(folder: Path, given: Mapping[str, Any], **dataset: Any) -> list[list[int]]:
    """All documents of the stream of a dataset, which must be built."""
    corpus, done = built(folder, given, **dataset)
    assert (done.failed, done.waiting) == ([], [])
    return [ids for rows in documents(corpus).values() for ids in rows]
