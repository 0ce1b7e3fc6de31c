"""One row of a file of a trainer's format: its ids, by document."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import export_section
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.export.datasets import ExportedDataset, exported_datasets
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, places_of
from corpus_assets.export.masked.documents import targets_of
from corpus_assets.export.registry import format_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tracing.from_tokens.exports import StreamTable, built, located
from resources.errors import ConfigError
from resources.stage.partition import Partition


@dataclass(frozen=True)
class Piece:
    """The ids of a row that are of one document, with its separators.

    first: position in the row of the first. learned: whether each id is learned; None for texts, of which all are.
    """

    first: int
    ids: NDArray[np.int64]
    source: str
    id: str
    learned: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Unit:
    """One row: a document or a window. size: its ids; `pieces` hold those of a range of them."""

    size: int
    pieces: list[Piece]
    tokenizer: Tokenizer
    separators: frozenset[int]


def unit_of(corpus: Corpus, name: str, place: tuple[Partition, str, int], start: int, most: int) -> Unit:
    """Returns up to `most` ids from position `start` on of one row of dataset `name`.

    place: the partition that wrote the file, the file's path, and the number of the row. Raises `ConfigError` for a row
    that there is not.
    """
    (dataset,) = (known for known in exported_datasets(corpus.settings.values["datasets"]) if known.name == name)
    tokenizer = load_tokenizer_of(built(corpus, dataset.tokenizer, None), dataset.added_token)
    build: Build[Export] = Build.of(name, export_section(dataset.values), tokenizer)
    pieces: list[Piece] = []
    size = at = 0
    for documents, id_, count in _runs(corpus, dataset, build, place):
        first, last = max(0, start - at), min(count, start + most - at)
        if first < last:
            pieces += _pieces(corpus, documents, (id_ + first, last - first, at + first), build.section)
        at += count
        size += count
    separators = frozenset(one for side in build.separators for one in side)
    return Unit(size, pieces, tokenizer, separators)


def _runs(
    opened: Opened, dataset: ExportedDataset, build: Build[Any], place: tuple[Partition, str, int]
) -> Iterator[tuple[Documents, int, int]]:
    """Yields where the ids of a row are from: documents, the place of the first id in theirs, and how many ids."""
    made, path, row = place
    known = format_of(build.section)
    if known.locate is None:
        _, documents, id_, size = located(opened, dataset, build, (made, path, row, 0))
        yield documents, id_, size
        return
    size = next((one.ids // one.units for one in places_of(made) if one.path == path and one.units), 0)
    if not size:
        raise ConfigError(f"{path} has no rows")
    position = 0
    while position < size:
        key, id_ = known.locate(made, path, row, position)
        low, high = position + 1, size  # Ids from one partition of the stream follow each other, up to some position.
        while low < high:
            middle = (low + high + 1) // 2
            if known.locate(made, path, row, middle - 1) == (key, id_ + middle - 1 - position):
                low = middle
            else:
                high = middle - 1
        _, documents, _, _ = located(opened, dataset, build, (made, path, row, position))
        yield documents, id_, low - position
        position = low


def _pieces(corpus: Corpus, documents: Documents, run: tuple[int, int, int], section: Export) -> Iterator[Piece]:
    """Yields ids of documents. run: the place of the first in all of theirs, how many, and its position in the row."""
    id_, count, first = run
    masks = targets_of(documents).data if section.in_part else None
    ends = np.cumsum(documents.sizes)
    table = StreamTable(corpus, documents.stream)
    number = int(np.searchsorted(ends, id_, side="right"))
    while count > 0:
        begin = int(ends[number]) - int(documents.sizes[number])
        start = int(documents.starts[number])
        chosen = slice(start, start + int(documents.lengths[number]))
        whole = documents.with_separators(number)
        known = masks[chosen] if masks is not None else np.arange(len(whole)) > 0
        learned = known[id_ - begin :][:count].astype(np.bool_) if section.tells_learned else None
        ids = whole[id_ - begin :][:count]
        source, identifier = table.named(int(documents.numbers[number]))
        yield Piece(first, ids, source, identifier, learned)
        id_, count, first, number = id_ + len(ids), count - len(ids), first + len(ids), number + 1
