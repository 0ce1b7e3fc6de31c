"""The token streams of a corpus, found by its corpus.yaml: which partitions it has now, and its end-of-text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from corpus_assets import dataset_names as names
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.datasets import stream_owners
from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.origins import Origin, RawRow
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tracing.from_tokens.streams import StreamRow, origins_of
from corpus_assets.tracing.look import Look
from resources.formats.token_streams import DATA
from resources.stage.partition import Partition
from resources.storage.interface import Storage


class Found(NamedTuple):
    """A stream in a store. paths: of its partitions, without suffixes, in canonical order."""

    storage: Storage
    paths: list[str]
    end_of_text: int | None


def find_stream(file: str | Path, name: str) -> Found:
    """Returns a token stream; `ReadingError` if there is none of that name, or a partition is not built."""
    corpus = Corpus.open(file, read_only=True)
    asset = _tokenizer_asset(corpus, name)
    planner = corpus.planner()
    stage = corpus.graph[names.token_stream(name)]
    records, keys = planner.records(stage.name), planner.partitions(stage)
    if absent := [str(key) for key in keys if key not in records]:
        raise ReadingError(f"{stage.name}: {', '.join(absent[:5])} not built ({len(absent)} of {len(keys)} partitions)")
    paths = [Partition(corpus.storage, records[key]).file(DATA).path.removesuffix(DATA) for key in keys]
    stored = planner.records(asset)[None]
    return Found(corpus.storage, paths, load_tokenizer_of(Partition(corpus.storage, stored)).eos_id)


def tokenizer_of(corpus: Corpus, name: str) -> Tokenizer:
    """Returns the tokenizer of a token stream, which is built."""
    return load_tokenizer_of(Partition(corpus.storage, corpus.records(_tokenizer_asset(corpus, name))[None]))


def _tokenizer_asset(corpus: Corpus, name: str) -> str:
    """Returns the asset of a token stream's tokenizer; `ReadingError` if there is no such stream."""
    # A loop that reads ids alone would learn what a mask leaves out.
    owners = [one for one in stream_owners(corpus.settings.values["datasets"]) if not one.masked]
    tokenizers = {owner.stream: owner.tokenizer for owner in owners}
    if name not in tokenizers:
        valid = ", ".join(sorted(tokenizers)) or "none"
        raise ReadingError(f"{corpus.file} has no token stream {name!r}; valid: {valid}")
    return tokenizers[name]


def raw_rows(file: str | Path, documents: Sequence[tuple[str, Origin]]) -> Iterator[RawRow]:
    """Yields the raw row of each document of a stream, as the corpus is now. documents: each with its partition."""
    rows = [StreamRow(key, origin.source, origin.id, origin.row, origin.copy) for key, origin in documents]
    found = origins_of(Look(Corpus.open(file, read_only=True)), rows)
    return (RawRow(one.file, one.row) for one in found)
