"""Rows in any order, brought into the order of documents by their ids, in bounded memory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from corpus_assets.attributes.files.rows import GivenRow
from resources.errors import StorageError
from resources.spill import Buckets, Spill

_ID = [("high", "<u8"), ("low", "<u8"), ("row", "<u8")]
_DOCUMENT = np.dtype(_ID)
_GIVEN = np.dtype([*_ID, ("at", "<u8"), ("size", "<u4")])
_PLACE = np.dtype([("document", "<u8"), ("row", "<u8"), ("at", "<u8"), ("size", "<u4")])
_BLOCK = 1 << 12
_DOCUMENTS = 1 << 16
"""Documents whose places are sorted at once."""
_MOST = 1 << 10
_ENCODER = msgspec.json.Encoder()
_VALUES = msgspec.json.Decoder(dict[str, Any])


class UnjoinedError(Exception):
    """Rows that cannot be joined. row: of the file, from 0, if the fault is there."""

    def __init__(self, problem: str, row: int | None = None) -> None:
        super().__init__(problem)
        self.row = row


@dataclass
class Joined:
    """Rows by document. rows: how many there were. absent: documents without one. unmatched: rows without a document.

    first_absent, first_unmatched: the first of these, from 0.
    """

    rows: int
    absent: int
    first_absent: int
    unmatched: int
    first_unmatched: int
    _places: Buckets
    _file: BinaryIO

    def values(self) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
        """Yields for each document, in order, the number of its row, and its values; None if there is no row."""
        with self._file, self._places:
            for number in range(len(self._places)):
                found = np.concatenate([np.empty(0, _PLACE), *self._places.rows(number)])
                for _, row, at, size in found[np.argsort(found["document"], kind="stable")].tolist():
                    yield row, _VALUES.decode(self._read(at, size)) if size else None

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        content = self._file.read(size)
        if len(content) != size:
            raise StorageError(f"scratch file: {len(content)} of {size} bytes at {at}; it was cut after it was written")
        return content


def joined(rows: Iterable[GivenRow], ids: Iterable[str], documents: int, memory: int, spill: Spill) -> Joined:
    """Joins rows with documents by id. documents: how many there are. memory: bytes; the rest goes to scratch files.

    `UnjoinedError` for an id that two rows or two documents have.
    """
    file, share = spill(), memory // 4
    bits = min(max((documents * _GIVEN.itemsize * 4 // max(share, 1)).bit_length(), 0), _MOST.bit_length() - 1)
    places = Buckets(max(1, -(-documents // _DOCUMENTS)), _PLACE, share, spill)
    with Buckets(1 << bits, _GIVEN, share, spill) as given, Buckets(1 << bits, _DOCUMENT, share, spill) as wanted:
        count = _scatter(_stored(rows, file), given, bits)
        _scatter(((identifier, ()) for identifier in ids), wanted, bits)
        absent, unmatched = _Tally(), _Tally()
        for number in range(len(given)):
            _match(
                np.concatenate([np.empty(0, _GIVEN), *given.rows(number)]),
                np.concatenate([np.empty(0, _DOCUMENT), *wanted.rows(number)]),
                places,
                absent,
                unmatched,
            )
    return Joined(count, absent.count, absent.first, unmatched.count, unmatched.first, places, file)


class _Tally:
    """How many rows there are of a kind, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first = -1

    def add(self, rows: NDArray[np.uint64]) -> None:
        """Counts rows by their numbers."""
        if len(rows):
            least = int(rows.min())
            self.count += len(rows)
            self.first = least if self.first < 0 else min(self.first, least)


def _stored(rows: Iterable[GivenRow], file: BinaryIO) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Writes the values of rows to a scratch file; yields their ids and places."""
    at = 0
    for row in rows:
        content = _ENCODER.encode(row.values)
        file.write(content)
        yield row.id or "", (at, len(content))
        at += len(content)


def _scatter(rows: Iterable[tuple[str, tuple[int, ...]]], buckets: Buckets, bits: int) -> int:
    """Puts rows into buckets by a hash of their ids; returns how many there are."""
    held: list[tuple[int, ...]] = []
    count = 0
    for identifier, rest in rows:
        hashed = xxhash.xxh3_128_intdigest(identifier.encode("utf-8", "surrogatepass"))
        held.append((hashed >> 64, hashed & (1 << 64) - 1, count, *rest))
        count += 1
        if len(held) == _BLOCK:
            _put(held, buckets, bits)
    _put(held, buckets, bits)
    return count


def _put(held: list[tuple[int, ...]], buckets: Buckets, bits: int) -> None:
    block = np.array(held, dtype=buckets.dtype)
    numbers = (block["high"] >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(block), np.int64)
    buckets.append(numbers, block)
    held.clear()


def _match(given: Any, wanted: Any, places: Buckets, absent: _Tally, unmatched: _Tally) -> None:
    """Joins the rows and documents of one bucket: each document gets a place, of no bytes if it has no row."""
    for rows, what in ((given, "row"), (wanted, "document")):
        _require_different(rows, what)
    known = np.concatenate([given[["high", "low"]], wanted[["high", "low"]]])
    side = np.repeat([0, 1], [len(given), len(wanted)])
    order = np.lexsort((side, known["low"], known["high"]))
    ordered = known[order]
    pairs = np.flatnonzero(ordered[1:] == ordered[:-1])
    of_given, of_wanted = order[pairs], order[pairs + 1] - len(given)
    found = np.zeros(len(wanted), dtype=_PLACE)
    found["document"] = wanted["row"]
    for name in ("row", "at", "size"):
        found[name][of_wanted] = given[name][of_given]
    places.append((found["document"] // _DOCUMENTS).astype(np.int64), found)
    absent.add(np.delete(wanted["row"], of_wanted))
    unmatched.add(np.delete(given["row"], of_given))


def _require_different(rows: Any, what: str) -> None:
    order = np.lexsort((rows["row"], rows["low"], rows["high"]))
    ordered = rows[order][["high", "low"]]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(same):
        later = rows["row"][order[same + 1]]
        first = int(np.argmin(later))
        row, before = int(later[first]), int(rows["row"][order[same[first]]])
        if what == "row":
            raise UnjoinedError(f"has the id of row {before}; `align: id` needs a different id in each row", row)
        raise UnjoinedError(f"documents {before} and {row} have one id; `align: id` needs different ids")
