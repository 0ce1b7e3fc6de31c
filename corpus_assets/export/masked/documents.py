"""Masked documents as formats write them: whole, packed into rows, with what each reader's labels are.

Four conventions must not be mixed up (docs/exports.md "Masked data"). The stream says of each id whether it is learned
(T), and never of the first one of a document. All others follow from that, where rows are written. Of a stream that
says nothing, all but the first id of each document is learned.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import MaskedExport
from corpus_assets.export.documents import BLOCK_IDS, Documents, IdReader, runs
from corpus_assets.export.format import Files, Place
from corpus_assets.export.masked.long import LONG_DOCUMENT, fitted
from corpus_assets.packing.bins import pack

MASK = ".mask.npy"
"""Suffix of a partition of a stream of masked documents: uint8 (ids,), 1 for an id that is learned."""
NOT_LEARNED = -100
"""The label that losses ignore."""
SEQUENCES, CUT_SHORT = "sequences", "documents_truncated"
"""Totals of rows of texts: pieces of documents in them, and documents that were cut."""
KERNELS = (
    "corpus_assets.export.kernels.separate.separate",
    "corpus_assets.packing.kernels.first_fit.place",
    *(f"corpus_assets.packing.kernels.bins.{name}" for name in ("longest_first", "best_fit", "in_input_order")),
)


def in_rows(documents: Documents, section: MaskedExport) -> Documents:
    """Returns documents in the order in which rows hold them, with the bounds of rows."""
    if not section.has_rows:
        return documents
    if section.long_documents is not None:
        documents = fitted(documents, _longest(section), section.long_documents)
    # With room for more ids than the row has positions, the last id of each document takes none.
    sizes = documents.sizes - section.more_ids
    packing = pack(sizes, section.sequence_length, section.packing, depth=section.packing_depth)
    return replace(documents.picked(packing.members), bounds=packing.bounds)


def rows_of(documents: Documents, section: MaskedExport, files: Files) -> "MaskedUnits":
    """Returns the rows of the documents of a partition; what is in none of them is counted in `files`."""
    units = MaskedUnits(in_rows(documents, section), in_part=section.in_part)
    if section.long_documents is not None:
        held = units.documents
        cut = int((documents.sizes > _longest(section)).sum())
        lost = cut if section.long_documents == "drop" else 0
        files.drop(LONG_DOCUMENT, documents=lost, ids=documents.ids - held.ids)
        files.count(**{SEQUENCES: len(held), CUT_SHORT: cut if section.long_documents == "cut" else 0})
    return units


def _longest(section: MaskedExport) -> int:
    """Returns how many ids a document of a row may have."""
    return section.sequence_length + section.more_ids


def targets_of(documents: Documents) -> Documents:
    """Returns the same documents with whether each id is learned in the place of ids, as the stream says it."""
    return replace(documents, data=documents.stream.array(MASK))


class LearnedReader:
    """Reads whether ids of documents are learned, one after another from the first on.

    in_part: the stream says it; else all are but the first one of each document.
    """

    def __init__(self, documents: Documents, *, in_part: bool) -> None:
        self._said = IdReader(targets_of(documents), np.uint8) if in_part else None
        self._starts = np.cumsum(documents.sizes) - documents.sizes
        self._ids = documents.ids
        self._place = 0

    def read(self, count: int) -> NDArray[np.uint8]:
        """Returns the next `count` values (count,), which there must be: 1 for an id that is learned, else 0."""
        if self._said is not None:
            return self._said.read(count)
        found = np.ones(count, np.uint8)
        first, end = np.searchsorted(self._starts, [self._place, self._place + count])
        found[self._starts[first:end] - self._place] = 0
        self._place += count
        return found

    def blocks(self) -> Iterator[NDArray[np.uint8]]:
        """Yields all values in blocks."""
        for start in range(0, self._ids, BLOCK_IDS):
            yield self.read(min(BLOCK_IDS, self._ids - start))


class Rows(NamedTuple):
    """Some rows, or documents that are rows of their own.

    ids: int32 (n,), of all, one after another. learned: uint8 (n,), 1 for an id that is learned, 0 for others and the
        first one of every document.
    sizes: int64 (documents,), ids of each document. counts: int64 (rows,), documents of each row.
    """

    ids: NDArray[np.int32]
    learned: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def ends(self) -> NDArray[np.int32]:
        """Returns where in the ids each row begins, and where the last one ends (rows + 1,)."""
        return _ends(self.sizes)[_ends(self.counts)]

    @property
    def document_ends(self) -> NDArray[np.int32]:
        """Returns the same of documents among all: with which each row begins (rows + 1,)."""
        return _ends(self.counts)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Returns the ids that are learned, and `NOT_LEARNED` in the place of others (U)."""
        return np.where(self.learned, self.ids, np.int32(NOT_LEARNED))

    @property
    def next_learned(self) -> NDArray[np.int8]:
        """Returns 1 where the id after this one is learned, and 0 for the last one of every document (P)."""
        # The first id of a document is never learned, so the last of the one before has 0.
        return np.append(self.learned[1:], np.uint8(0)).astype(np.int8)

    @property
    def positions(self) -> NDArray[np.int32]:
        """Returns how many ids of its document come before each id."""
        starts = (np.cumsum(self.sizes) - self.sizes).astype(np.int32)
        return np.arange(len(self.ids), dtype=np.int32) - np.repeat(starts, self.sizes)

    @property
    def documents(self) -> NDArray[np.int32]:
        """Returns for each id which document of its row it is of, from 1."""
        firsts = np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return np.repeat((np.arange(len(self.sizes)) - firsts + 1).astype(np.int32), self.sizes)

    @property
    def starts(self) -> NDArray[np.int32]:
        """Returns where in its row each document begins (documents,)."""
        begins = np.cumsum(self.sizes) - self.sizes
        return (begins - np.repeat(self.ends[:-1], self.counts)).astype(np.int32)


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


@dataclass(frozen=True)
class MaskedUnits:
    """The rows of the documents of a partition, in the order of files. Memory is that of their sizes."""

    documents: Documents
    in_part: bool = True

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Returns the ids of each row (rows,)."""
        return np.diff(self._begins[self.documents.unit_bounds])

    @property
    def _begins(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.documents.sizes)])

    def place(self, path: str, first: int, end: int) -> Place:
        """Returns where the rows of a file come from, which holds those from `first` to `end`."""
        bounds, begins = self.documents.unit_bounds, self._begins
        start, stop = int(begins[bounds[first]]), int(begins[bounds[end]])
        number = int(self.documents.numbers[bounds[first]])
        return Place(path, 0, end - first, self.documents.key, number, start, stop - start)

    def reader(self) -> "RowReader":
        """Returns a reader of the rows from the first on."""
        return RowReader(self.documents, in_part=self.in_part)


class RowReader:
    """Reads rows one after another."""

    def __init__(self, documents: Documents, *, in_part: bool) -> None:
        self._documents = documents
        self._ids = IdReader(documents, np.int32)
        self._learned = LearnedReader(documents, in_part=in_part)
        self._row = 0

    def read(self, count: int) -> Rows:
        """Returns the next `count` rows, which there must be."""
        bounds = self._documents.unit_bounds[self._row : self._row + count + 1]
        self._row += count
        sizes = self._documents.sizes[bounds[0] : bounds[-1]]
        total = int(sizes.sum())
        return Rows(self._ids.read(total), self._learned.read(total), sizes, np.diff(bounds))


def groups(sizes: NDArray[Any], ids: int, rows: int | None = None) -> Iterator[int]:
    """Yields how many rows are read together: as many as are `ids` together, or one; at most `rows`."""
    for first, end in runs(sizes, ids):
        left = end - first
        while left:
            yield (taken := min(left, rows or left))
            left -= taken
