"""Compares the sketches of both documents of candidate pairs: a join on disk with sequential reads."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, Span, document_dtype
from corpus_assets.dedup.signatures.sketches import WORD_BITS, Agreements, Sketches, Words, agreeing, as_words
from resources.spill import Buckets, Rows, Spill, cut

Load = Callable[[int, int], Sketches]

RANGE_BYTES = 1 << 27
_BLOCK_PAIRS = 1 << 15


def range_rows(bits: int) -> int:
    """Returns how many sketches are held at once. Depends only on their bits: it determines the output's order."""
    return max(8 * RANGE_BYTES // bits, 1)


def row_type(total: int, words: int) -> np.dtype[Any]:
    """Returns the type of (pair, sketch of its later document) among `total` documents; sketches of so many words."""
    return np.dtype([("pair", document_dtype(total), (2,)), ("sketch", np.uint64, (words,))])


def with_sketches(
    pairs: Iterable[tuple[int, Edges]], sketches: Load, span: Span, *, range_rows: int, row: np.dtype[Any]
) -> Iterator[Rows]:
    """Yields blocks of `row` (k,): each pair with the sketch of its later document, in the order of the pairs.

    `pairs` are (range, pairs whose column 1 lies in that range of `range_rows` documents), a range's blocks one after
    the other; ranges are counted from the start of `span`, and `sketches(start, stop)` is called only within it. Rows
    without room for a sketch get none, and none is read. `ValueError` as in `agreements`.
    """
    held = _Range(sketches, span, range_rows)
    for number, block in pairs:
        for some in cut([block], _BLOCK_PAIRS):
            rows = np.empty(len(some), dtype=row)
            rows["pair"] = some
            if row["sketch"].shape[0]:
                later = held.rows(number, some[:, 1])
                rows["sketch"] = held.sketches[later]
            yield rows


def compared(
    rows: Iterable[Rows],
    sketches: Load,
    span: Span,
    *,
    range_rows: int,
    row: np.dtype[Any],
    memory: int,
    spill: Spill,
) -> Iterator[tuple[Edges, Agreements]]:
    """Yields blocks of the pairs (k, 2) of `with_sketches`, and in how many bits (k,) both documents' sketches agree.

    Column 0 lies in `span` for all pairs. Output is ordered by its range, within it as the rows came. Holds the
    sketches of one range, and `memory` bytes.
    """
    held, (start, stop) = _Range(sketches, span, range_rows), span
    skip = row.itemsize * 8 // WORD_BITS - row["sketch"].shape[0]
    size = max(min(memory // (8 * row.itemsize), _BLOCK_PAIRS), 1)
    with Buckets(-(-(stop - start) // range_rows), row, memory // 2, spill) as buckets:
        for some in cut(rows, size):
            others = some["pair"][:, 0].astype(np.int64) - start
            buckets.append(others // range_rows, some)
        for number in range(len(buckets)):
            for some in buckets.rows(number):
                found = np.ascontiguousarray(some["pair"])
                places = held.rows(number, found[:, 0])
                yield found, agreeing(some.view(np.uint64).reshape(len(some), -1), skip, held.sketches, places)


def agreements(
    pairs: Iterable[tuple[int, Edges]], sketches: Load, total: int, range_rows: int, *, memory: int, spill: Spill
) -> Iterator[tuple[Edges, Agreements]]:
    """Yields blocks of pairs (k, 2) with the number of bits (k,) in which the sketches of their documents agree.

    `pairs` are (range, pairs whose column 1 lies in that range of `range_rows` documents), a range's blocks one after
    the other; column 0 is any other document, earlier or later, so (kept, member) is valid. `sketches(start, stop)`
    gives the sketches (stop - start, bits / 8) of a range: at most twice each, and once those of the empty range, which
    say how many bits there are. Output is ordered by the range of column 0, within it as the pairs came: for
    `unique_pairs`, by later, then first document.

    Holds the sketches of one range, and `memory` bytes. `ValueError` for a pair outside its range or the corpus, or
    sketches of a wrong shape or number of bits.
    """
    row, everything = row_type(total, as_words(sketches(0, 0)).shape[1]), (0, total)
    rows = with_sketches(pairs, sketches, everything, range_rows=range_rows, row=row)
    return compared(rows, sketches, everything, range_rows=range_rows, row=row, memory=memory, spill=spill)


class _Range:
    """The sketches of one range at a time: writable and contiguous, so that one compiled kernel suffices."""

    def __init__(self, load: Load, span: Span, range_rows: int) -> None:
        self._load = load
        self._first, self._stop = span
        self._range_rows = range_rows
        self._number = -1
        self.sketches: Words = np.empty((0, 0), dtype=np.uint64)

    def rows(self, number: int, documents: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        """Returns the positions of documents of a range in `sketches`; loads that range unless it is held."""
        if number != self._number:
            self._move(number)
        rows = documents.astype(np.int64) - (self._first + number * self._range_rows)
        if not 0 <= int(rows.min()) <= int(rows.max()) < len(self.sketches):
            raise ValueError(f"documents {documents.min()} to {documents.max()} are not all of range {number}")
        return rows

    def _move(self, number: int) -> None:
        # The previous range is released first, because two would double the memory.
        self.sketches = np.empty((0, 0), dtype=np.uint64)
        start = self._first + number * self._range_rows
        stop = min(start + self._range_rows, self._stop)
        self.sketches = as_words(np.array(self._load(start, stop), dtype=np.uint8, order="C"))
        if len(self.sketches) != stop - start:
            raise ValueError(f"{len(self.sketches)} sketches were given for documents {start} to {stop}")
        self._number = number
