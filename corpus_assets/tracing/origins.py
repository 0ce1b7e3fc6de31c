"""The raw row from which a document was made."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.raw.bad_rows import GAPS
from corpus_assets.tracing.tables import IDS, TEXTS, rows_of_id
from resources.formats.row_tables import ORIGINS, SHARDS
from resources.hashing import keyed_hash
from resources.stage.partition import Partition


@dataclass(frozen=True)
class Origin:
    """Where a document comes from.

    shard: key of its shard partition; None if the mix that is there now has no such document.
    file: path of the raw file; None if it is gone.
    row: of the raw file, from 0, bad rows included; None if the shard has no such document.
    """

    source: str
    id: str
    shard: str | None = None
    file: str | None = None
    row: int | None = None


def read_by(corpus: Corpus, dataset: str) -> str:
    """Returns the asset that holds what was read of a dataset's own files: examples, or a token stream."""
    entries = {entry["name"]: entry for entry in corpus.settings.values["datasets"]}
    if dataset in entries and reads_tokens(entries[dataset]):
        return names.token_stream(names.own_stream(dataset))
    return names.examples(dataset)


def order_of(corpus: Corpus, source: str, identifier: str, copy: int) -> int:
    """Returns the keyed hash by which one use of a document is ordered in its chunk."""
    return keyed_hash("order", corpus.settings.get("mix.seed"), source, identifier, copy)


def shard_of(opened: Opened, chunk: str, order: int) -> str | None:
    """Returns the shard of the document of that order in a chunk; None if the chunk has no such document now."""
    mixed = opened.partition("mixed_pass2", chunk)
    if mixed is None:
        return None
    found = np.flatnonzero(mixed.array(".rows.npy")["order"] == np.uint64(order))
    return mixed.json(SHARDS)[mixed.array(ORIGINS)[found[0]]] if len(found) else None


def origin(corpus: Corpus, source: str, identifier: str, shard: str | None, example: int | None = None) -> Origin:
    """Returns where a document comes from. example: its number, if it is one of a dataset's own files."""
    if shard is None:
        return Origin(source, identifier)
    asset = read_by(corpus, source) if example is not None else "normalized_documents"
    made = corpus.partition(asset, shard)
    if made is None:
        return Origin(source, identifier, shard, _file(corpus, shard))
    number = row_of(made, identifier) if example is None else example
    return Origin(source, identifier, shard, _file(corpus, shard), None if number is None else raw_row(made, number))


def raw_row(made: Partition, number: int) -> int:
    """Returns the row of the raw file of which document or example `number` was made."""
    return nth_row(number, made.array(GAPS)) if made.has(GAPS) else number


def nth_row(number: int, gaps: NDArray[np.unsignedinteger[Any]]) -> int:
    """Returns the row of number `number` among those that are not in `gaps`, (n,) in rising order; both from 0."""
    before = gaps.astype(np.int64) - np.arange(len(gaps))  # rows that are no gaps before each gap
    return number + int(np.searchsorted(before, number, side="right"))


def row_of(documents: Partition, identifier: str) -> int | None:
    """Returns the number of the document with an id; None if there is none."""
    wanted = identifier.encode("utf-8", "surrogatepass")
    return next(rows_of_id(documents.array(TEXTS)["id_end"], documents.array(IDS), wanted), None)


def _file(corpus: Corpus, shard: str) -> str | None:
    return next((known.full_path for known in corpus.listing().shards if known.key == shard), None)
