"""Which larger documents have a shingle that a document has: pairs to look at, a bounded number for each shingle.

A document that holds another has at least as many shingles, but for the error of samples. So each document asks, for a
few of its shingles, the documents with larger samples that have it too. Of many it sees the largest ones and those just
larger than itself: a frame that all documents share gives no more pairs than a rare shingle.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.samples import ASKED, RARE
from corpus_assets.dedup.documents.counting import counted
from resources.spill import Buckets, Spill

SEEN = 8
"""Larger documents that a document sees if many have one of its shingles."""

ALL = 64
"""Larger documents up to which it sees all that have one of its shingles."""

FEW = 16
"""Larger documents up to which it looks for those with `RARE` of its shingles, not `ASKED`."""

_LARGEST = SEEN // 2
_COMMON = 1 << 12
"""Documents with one shingle from which on each sees the largest ones alone."""

_AT_ONCE = 1 << 18
_ROWS = 1 << 13
_PER_BUCKET = 1 << 16
_MOST_BUCKETS = 1 << 14
_NOT_ALL = 0x80


def holder_rows(numbers: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of a document with a shingle of its sample."""
    return np.dtype([("hash", "<u8"), ("document", numbers), ("size", "<u4"), ("slot", "u1")])


def seen_rows(numbers: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of (document, a larger one that it sees).

    slot: for which of its shingles, plus 128 if there are others that it does not see. asked: its shingles that ask.
    """
    return np.dtype([("pair", numbers, (2,)), ("slot", "u1"), ("asked", "u1")])


class Slots(NamedTuple):
    """Of the rows of pairs (n,): the shingle that asked, and whether all larger documents with it are seen."""

    slot: NDArray[np.uint8]
    is_all: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: NDArray[np.void]) -> "Slots":
        """Takes the byte apart in which both are stored."""
        return cls(rows["slot"] & np.uint8(_NOT_ALL - 1), rows["slot"] < _NOT_ALL)


class Holders:
    """Collects the rows (`holder_rows`) of one range of hashes; then yields what each document sees.

    What it yields, and in which order, depends on neither `memory` nor the cuts of the rows.
    """

    def __init__(self, rows: int, span: tuple[int, int], kind: np.dtype[Any], memory: int, spill: Spill) -> None:
        """Begins with no row. rows: how many will come. span: of the hashes, in their high 32 bits."""
        count = min(max(rows // _PER_BUCKET, 1), _MOST_BUCKETS)
        self._first, self._width = span[0], max(-(-(span[1] - span[0]) // count), 1)
        self._buckets = Buckets(count, kind, memory, spill)

    def __enter__(self) -> "Holders":
        return self

    def __exit__(self, *error: object) -> None:
        self._buckets.__exit__(None, None, None)

    def add(self, rows: NDArray[np.void]) -> None:
        """Appends rows; documents ascend."""
        high = (rows["hash"] >> np.uint64(32)).astype(np.int64)
        self._buckets.append((high - self._first) // self._width, rows)

    def seen(self) -> Iterator[NDArray[np.void]]:
        """Yields blocks of what documents see (`seen_rows`)."""
        for number in range(len(self._buckets)):
            if self._buckets.size(number) <= _AT_ONCE:
                yield from _seen(np.concatenate([np.empty(0, self._buckets.dtype), *self._buckets.rows(number)]))
            else:
                yield from self._of_common(number)

    def _of_common(self, number: int) -> Iterator[NDArray[np.void]]:
        """Yields what is seen in a bucket that is large since some shingles are in very many documents."""
        hashes, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
        largest = np.empty(0, self._buckets.dtype)
        for block in self._buckets.rows(number):
            hashes, counts = counted(hashes, counts, block["hash"])
            largest = _first_of_each(np.concatenate([largest, block]), ALL + 1)
        common = hashes[counts > _COMMON]
        largest = largest[_within(common, largest["hash"])]
        others = [np.empty(0, self._buckets.dtype)]
        for block in self._buckets.rows(number):
            of_common = _within(common, block["hash"])
            others.append(block[~of_common])
            yield from _seen_of(largest, block[of_common])
        yield from _seen(np.concatenate(others))


def _seen(rows: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """Yields blocks of what the documents of all rows of some hashes see."""
    rows = rows[_by_size(rows)]
    leads = np.ones(len(rows), dtype=np.bool_)
    leads[1:] = rows["hash"][1:] != rows["hash"][:-1]
    firsts = np.flatnonzero(leads)
    lead = np.repeat(firsts, np.diff(firsts, append=len(rows)))
    size = np.repeat(np.diff(firsts, append=len(rows)), np.diff(firsts, append=len(rows)))
    larger = np.arange(len(rows)) - lead
    asking = np.flatnonzero((larger > 0) & (rows["slot"] < np.where(larger > FEW, ASKED, RARE)))
    lead, larger, common = lead[asking], larger[asking], size[asking] > _COMMON
    for place in range(min(ALL, int(larger.max(initial=0)))):
        near = (larger > ALL) & ~common & (place >= _LARGEST)
        target = lead + np.where(near, larger - SEEN + place, place)
        some = place < np.where(larger > ALL, SEEN, larger)
        yield _pairs(rows[asking[some]], rows["document"][target[some]], larger[some] > ALL)


def _seen_of(largest: NDArray[np.void], rows: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """Yields what documents see that see the largest ones alone. largest: `ALL` + 1 rows of each hash, sorted."""
    rows = rows[rows["slot"] < RARE]
    for start in range(0, len(rows), _ROWS):
        yield _seen_of_some(largest, rows[start : start + _ROWS])


def _seen_of_some(largest: NDArray[np.void], rows: NDArray[np.void]) -> NDArray[np.void]:
    starts = np.searchsorted(largest["hash"], rows["hash"])
    stops = np.searchsorted(largest["hash"], rows["hash"], side="right")
    # Row after row, so that the order does not depend on how rows are cut into blocks.
    places = starts[:, None] + np.arange(ALL + 1)
    other = largest[np.minimum(places, len(largest) - 1)]
    size, document = rows["size"][:, None], rows["document"][:, None]
    is_larger = (other["size"] > size) | ((other["size"] == size) & (other["document"] < document))
    is_larger &= places < stops[:, None]
    larger = is_larger.sum(axis=1)
    many = larger > ALL
    is_larger[:, SEEN:] &= ~many[:, None]
    is_larger &= (rows["slot"] < np.where(larger > FEW, ASKED, RARE))[:, None]
    asking, target = np.nonzero(is_larger)
    return _pairs(rows[asking], other["document"][asking, target], many[asking])


def _pairs(rows: NDArray[np.void], others: NDArray[Any], not_all: NDArray[np.bool_]) -> NDArray[np.void]:
    found = np.empty(len(rows), seen_rows(rows.dtype["document"]))
    found["pair"][:, 0], found["pair"][:, 1] = rows["document"], others
    found["slot"] = rows["slot"] + np.uint8(_NOT_ALL) * not_all
    found["asked"] = np.minimum(rows["size"], ASKED)
    return found


def _by_size(rows: NDArray[np.void]) -> NDArray[np.int64]:
    """Returns the order by hash, the largest document first, equal ones by number."""
    order: NDArray[np.int64] = np.lexsort((rows["document"], ~rows["size"], rows["hash"]))
    return order


def _first_of_each(rows: NDArray[np.void], most: int) -> NDArray[np.void]:
    """Returns the largest rows of each hash, up to `most`, sorted."""
    rows = rows[_by_size(rows)]
    firsts = np.searchsorted(rows["hash"], rows["hash"])
    return rows[np.arange(len(rows)) - firsts < most]


def _within(hashes: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Returns which of `asked` are among `hashes`, which ascend."""
    if not len(hashes):
        return np.zeros(len(asked), dtype=np.bool_)
    places = np.minimum(np.searchsorted(hashes, asked), len(hashes) - 1)
    return np.asarray(hashes[places] == asked)


def numbered(rows: NDArray[np.void], first: Any, kind: np.dtype[Any]) -> NDArray[np.void]:
    """Returns sampled shingles of a shard as rows of `kind`. first: the number of the shard's first document."""
    found = np.empty(len(rows), dtype=kind)
    for name in ("hash", "size", "slot"):
        found[name] = rows[name]
    found["document"] = rows["row"].astype(np.uint64) + np.uint64(first)
    return found
