"""Corpora of one dataset that reads files of ids, and what is expected of its stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.token_stream import DATA, LENGTHS
from corpus_assets.token_files.documents import Bad, batches
from corpus_assets.token_files.pieces import How, TokenSource
from corpus_assets.token_files.registry import FORMATS
from resources.raw_places import SourceFolder
from resources.shards.listing import Shard, list_shards
from tests.build.small import Built, drive, opened, write_config
from tests.export.exported import partitions


@dataclass
class Read:
    """Documents by the name of their shard and their number, those that are bad, and how many had no separator."""

    documents: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    without: int = 0

    @property
    def rows(self) -> list[list[int]]:
        """The ids of all good documents."""
        return [*self.documents.values()]


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
    found = dict[str, list[list[int]]]()
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


def files_read(
    folder: Path | str, name: str, *, vocabulary: int = 1000, separator: int | None = 0, **options: Any
) -> Read:
    """What is read of a folder in a format, without a corpus; an error for the first file that cannot be read."""
    section = TokenFiles.model_validate({"location": str(folder), "format": name, **options})
    grouping = FORMATS[name].group
    place = SourceFolder("s", str(folder), ("**/*",), name, grouping=grouping)
    how = How(section, vocabulary, separator if section.side != "none" else None)
    read = Read()
    for shard in list_shards([place], lambda *_: []).shards:
        opener = partial(_opened, shard)
        source = TokenSource(shard.path, shard.members, opener)
        if shard.problem:
            shard.open()
        for batch in batches(FORMATS[name].read(source, how), how):
            place_in_batch = 0
            for length, number in zip(batch.lengths.tolist(), batch.numbers.tolist(), strict=True):
                read.documents[shard.name, number] = batch.ids[place_in_batch : place_in_batch + length].tolist()
                place_in_batch += length
            assert place_in_batch == len(batch.ids)
            read.bad += batch.bad
            read.without += batch.without
    return read


def _opened(shard: Shard, name: str) -> BinaryIO:
    return shard.open_member(name) if name else shard.open()
