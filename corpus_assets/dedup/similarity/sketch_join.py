"""Check of candidate pairs against the sketches of both documents: a join on disk with sequential reads."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, document_dtype
from corpus_assets.dedup.signatures.sketches import WORD_BITS, Agreements, Sketches, Words, agreeing, as_words
from resources.spill import Buckets, Spill, cut

Load = Callable[[int, int], Sketches]

RANGE_BYTES = 1 << 27
_BLOCK_PAIRS = 1 << 15


def range_rows(bits: int) -> int:
    """Returns how many sketches are held at once. It depends on their bits alone, since it orders the output."""
    return max(8 * RANGE_BYTES // bits, 1)


def agreements(
    pairs: Iterable[tuple[int, Edges]], sketches: Load, total: int, range_rows: int, *, memory: int, spill: Spill
) -> Iterator[tuple[Edges, Agreements]]:
    """Yields blocks of pairs (k, 2) with the number of bits (k,) in which the sketches of their documents agree.

    `pairs` are (range, pairs whose column 1 lies in that range of `range_rows` documents), a range's blocks one after
    the other; column 0 is any other document, earlier or later, so (kept, member) will do. `sketches(start, stop)`
    gives the sketches (stop - start, bits / 8) of a range: at most twice each, and once those of the empty range,
    which say how many bits there are. Output is ordered by the range of column 0, within it as the pairs came: for
    `unique_pairs`, by later, then first document.

    Holds the sketches of one range, and `memory` bytes. `ValueError` for a pair outside its range or the corpus, or
    sketches of a wrong shape or number of bits.
    """
    held = _Range(sketches, total, range_rows)
    words = as_words(sketches(0, 0)).shape[1]
    dtype = np.dtype([("pair", document_dtype(total), (2,)), ("sketch", np.uint64, (words,))])
    skip = dtype.itemsize * 8 // WORD_BITS - words
    size = max(min(memory // (8 * dtype.itemsize), _BLOCK_PAIRS), 1)
    with Buckets(-(-total // range_rows), dtype, memory // 2, spill) as buckets:
        for number, block in pairs:
            for some in cut([block], size):
                later = held.rows(number, some[:, 1])
                rows = np.empty(len(some), dtype=dtype)
                rows["pair"], rows["sketch"] = some, held.sketches[later]
                buckets.append(some[:, 0] // some.dtype.type(min(range_rows, total)), rows)
        for number in range(len(buckets)):
            for rows in buckets.rows(number):
                found = np.ascontiguousarray(rows["pair"])
                others = held.rows(number, found[:, 0])
                yield found, agreeing(rows.view(np.uint64).reshape(len(rows), -1), skip, held.sketches, others)


class _Range:
    """The sketches of one range at a time: writable and contiguous, so that the kernel is compiled for one type."""

    def __init__(self, load: Load, total: int, range_rows: int) -> None:
        self._load = load
        self._total = total
        self._range_rows = range_rows
        self._number = -1
        self.sketches: Words = np.empty((0, 0), dtype=np.uint64)

    def rows(self, number: int, documents: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        """Returns where documents of a range lie in `sketches`; loads that range unless it is held."""
        if number != self._number:
            self._move(number)
        rows = documents.astype(np.int64) - number * self._range_rows
        if not 0 <= int(rows.min()) <= int(rows.max()) < len(self.sketches):
            raise ValueError(f"documents {documents.min()} to {documents.max()} are not all of range {number}")
        return rows

    def _move(self, number: int) -> None:
        # The range before is released first: two of them would double the memory.
        self.sketches = np.empty((0, 0), dtype=np.uint64)
        start = number * self._range_rows
        stop = min(start + self._range_rows, self._total)
        self.sketches = as_words(np.array(self._load(start, stop), dtype=np.uint8, order="C"))
        if len(self.sketches) != stop - start:
            raise ValueError(f"{len(self.sketches)} sketches were given for documents {start} to {stop}")
        self._number = number
