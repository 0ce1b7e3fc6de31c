"""True Jaccard similarity of candidate pairs, over the shingles of their cleaned texts."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from corpus_assets.dedup.signatures.shingles import cleaned_bytes, shingle_hashes
from resources.errors import StorageError
from resources.spill import Spill, cut

Hashes = NDArray[np.uint64]

OfDocument = Callable[[int], Hashes]
"""Returns the shingles of the template of a document's source, ascending, by the document's number."""

_BLOCK_PAIRS = 1 << 16
# Peak memory of making a set, per byte of cleaned text: all hashes, the unique ones, and the text twice.
_WORKING_BYTES = 24
_SLICE_BITS = 32


def wanted(pairs: Iterable[NDArray[np.unsignedinteger]], total: int) -> NDArray[np.uint8]:
    """Returns which of `total` documents occur in blocks, mostly of pairs (m, 2): a bitmap of total / 8 bytes."""
    bitmap = np.zeros(-(-total // 8), dtype=np.uint8)
    for documents in cut(pairs, _BLOCK_PAIRS):
        if int(documents.max()) >= total:
            raise ValueError(f"pair with document {documents.max()}; there are {total} documents")
        flat = documents.reshape(-1)
        np.bitwise_or.at(bitmap, flat >> 3, np.uint8(1) << (flat & 7).astype(np.uint8))
    return bitmap


def occurring(bitmap: NDArray[np.uint8], start: int, stop: int) -> NDArray[np.bool_]:
    """Returns which of the documents `start` to `stop` a bitmap of `wanted` has, shape (stop - start,)."""
    bits = np.unpackbits(bitmap[start // 8 : -(-stop // 8)], bitorder="little")
    return bits[start % 8 : start % 8 + stop - start].astype(np.bool_)


def perhaps_occurring(bitmap: NDArray[np.uint8], starts: Sequence[int]) -> NDArray[np.bool_]:
    """Returns which groups may contain documents of a bitmap of `wanted`, shape (groups,).

    starts: the first document of each group, and one past the last of all. The test is by whole bytes of the bitmap, so
    that thousands of groups cost one pass; groups that pass must be examined.
    """
    bounds = np.asarray(starts, dtype=np.int64)
    if not len(bitmap):
        return np.zeros(len(bounds) - 1, dtype=np.bool_)
    firsts, lasts = np.minimum(bounds[:-1] >> 3, len(bitmap) - 1), np.maximum(bounds[1:] - 1, 0) >> 3
    return np.asarray((np.bitwise_or.reduceat(bitmap, firsts) | bitmap[lasts]) > 0)


def marked(bitmap: NDArray[np.uint8], documents: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    """Returns which of these documents a bitmap of `wanted` has, in their order."""
    return np.asarray(bitmap[documents >> 3] >> (documents & 7).astype(np.uint8) & 1, dtype=np.bool_)


def exact_similarities(
    pairs: Iterable[Edges],
    texts: Iterable[tuple[int, str]],
    scheme: SignatureScheme,
    *,
    memory: int,
    spill: Spill,
    template: OfDocument | None = None,
) -> Iterator[tuple[Edges, NDArray[np.float64]]]:
    """Yields blocks of the pairs (k, 2), in their order, with the Jaccard similarity (k,) of their shingle sets.

    `texts` are (document number, uncleaned text) of all documents that occur, numbers ascending; others may be among
    them. Cleaned texts go to a scratch file; 16 bytes per text stay in memory. Sets of 64-bit hashes are made on demand
    and kept within `memory` bytes; the least recently used are dropped first. With pairs in the order of `agreements`
    most sets are made once per range. Sets that do not fit are compared a slice at a time. Two documents without a
    shingle have similarity 0. template: the shingles that a document's set leaves out. `ValueError` for a document
    without a text, or texts out of order.
    """
    with spill() as file:
        cleaned = CleanedTexts(file, texts)
        sets = ShingleSets(cleaned, scheme, memory, template)
        for block in cut(pairs, _BLOCK_PAIRS):
            rows = cleaned.rows(block).tolist()
            similarities = (sets.similarity(left, right) for left, right in rows)
            yield block, np.fromiter(similarities, dtype=np.float64, count=len(rows))


class CleanedTexts:
    """Cleaned texts in a scratch file. The row of a text is its position among the given texts."""

    def __init__(self, file: BinaryIO, texts: Iterable[tuple[int, str]]) -> None:
        self._file = file
        numbers, ends = array("Q"), array("Q", [0])
        for number, text in texts:
            if numbers and number <= numbers[-1]:
                raise ValueError(
                    f"text of document {number} after that of {numbers[-1]}; texts come in ascending order"
                )
            cleaned = cleaned_bytes(text)
            file.write(cleaned)
            numbers.append(number)
            ends.append(ends[-1] + len(cleaned))
        self._numbers = np.frombuffer(numbers, dtype=np.uint64)
        self._ends = np.frombuffer(ends, dtype=np.uint64)

    def rows(self, documents: Edges) -> NDArray[np.intp]:
        """Returns the row of each document number, in the shape of `documents`."""
        rows = np.searchsorted(self._numbers, documents)
        known = rows < len(self._numbers)
        known[known] = self._numbers[rows[known]] == documents[known]
        if not known.all():
            raise ValueError(f"document {documents[~known][0]} is in a pair, but its text was not given")
        return rows

    def number(self, row: int) -> int:
        """Returns the document of a row."""
        return int(self._numbers[row])

    def size(self, row: int) -> int:
        """Returns the number of bytes of a cleaned text, which has at most as many shingles."""
        return int(self._ends[row + 1] - self._ends[row])

    def read(self, row: int) -> bytes:
        """Returns a cleaned text."""
        self._file.seek(int(self._ends[row]))
        cleaned = self._file.read(self.size(row))
        if len(cleaned) != self.size(row):
            raise StorageError(
                f"scratch file: {len(cleaned)} of {self.size(row)} bytes of a text; it was cut after it was written"
            )
        return cleaned


class ShingleSets:
    """Sets of shingles by row; the last used are kept in memory."""

    def __init__(
        self, texts: CleanedTexts, scheme: SignatureScheme, memory: int, template: OfDocument | None = None
    ) -> None:
        """Begins without a set. template: the shingles that a document's set leaves out, unless it has no others."""
        self._texts = texts
        self._template = template
        self._whole: dict[int, bool] = {}
        self._scheme = scheme
        self._room = self._budget = memory // 2
        self._working = max(memory // 4, 1)
        self._sets: OrderedDict[int, Hashes] = OrderedDict()

    def similarity(self, left: int, right: int) -> float:
        """Returns the Jaccard similarity of the texts of two rows."""
        size = self._texts.size(left) + self._texts.size(right)
        slices = -(-size * _WORKING_BYTES // self._working)
        if slices <= 1:
            return _jaccard([(self.of(left), self.of(right))])
        return _jaccard((self.part(left, place, slices), self.part(right, place, slices)) for place in range(slices))

    def slices(self, row: int) -> int:
        """Returns in how many equal slices of hashes a row's set must be made to fit in memory."""
        return max(-(-self._texts.size(row) * _WORKING_BYTES // self._working), 1)

    def part(self, row: int, place: int, slices: int) -> Hashes:
        """Returns one of several slices of a row's set, sorted; the whole set if there is one slice."""
        if slices == 1:
            return self.of(row)
        return self._own(row, self._slice(self._texts.read(row), place, slices), part=True)

    def most(self, row: int) -> int:
        """Returns a number that the shingles of a row's set are not more than."""
        return self._texts.size(row)

    def fits(self, row: int) -> bool:
        """Returns whether the set of a row may be made as a whole."""
        return self._texts.size(row) * _WORKING_BYTES <= self._working

    def of(self, row: int) -> Hashes:
        """Returns the sorted set of a row."""
        if row in self._sets:
            self._sets.move_to_end(row)
            return self._sets[row]
        made = self._sets[row] = self._own(row, shingle_hashes(self._texts.read(row), self._scheme))
        self._room -= made.nbytes
        while self._room < 0 and len(self._sets) > 1:
            self._room += self._sets.popitem(last=False)[1].nbytes
        return made

    def _own(self, row: int, hashes: Hashes, *, part: bool = False) -> Hashes:
        """Returns hashes of a row without those of its template. part: whether they are not all that it has."""
        template = None if self._template is None else self._template(self._texts.number(row))
        if template is None or not len(template):
            return hashes
        own = np.setdiff1d(hashes, template, assume_unique=True)
        if part:
            return hashes if self._is_template(row, template) else own
        return own if len(own) else hashes

    def _is_template(self, row: int, template: Hashes) -> bool:
        """Returns whether a text that is made in slices has no shingle beside its template."""
        if row not in self._whole:
            parts = (shingle_hashes(piece, self._scheme) for piece in self._pieces(self._texts.read(row)))
            self._whole[row] = not any(len(np.setdiff1d(part, template, assume_unique=True)) for part in parts)
        return self._whole[row]

    def _pieces(self, cleaned: bytes) -> Iterator[bytes]:
        return pieces(cleaned, max(self._working // _WORKING_BYTES, 1), self._scheme.unit, self._scheme.width)

    def _slice(self, cleaned: bytes, place: int, slices: int) -> Hashes:
        """Returns the hashes of a text that fall into one of several equal slices of their range."""
        found = []
        for piece in self._pieces(cleaned):
            hashes = shingle_hashes(piece, self._scheme)
            bits = np.uint64(_SLICE_BITS)
            found.append(hashes[(hashes >> bits) * np.uint64(slices) >> bits == place])
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.uint64)


def pieces(cleaned: bytes, size: int, unit: Unit, width: int) -> Iterator[bytes]:
    """Yields overlapping pieces of about `size` bytes that together hold exactly the windows of `width` units."""
    start = 0
    while start < len(cleaned):
        end = _next_unit(cleaned, start + size, unit)
        last = end
        # No window that starts before `end` has more than `width` - 1 units after it.
        for _ in range(width - 1):
            last = _next_unit(cleaned, last + 1, unit)
        yield cleaned[start:last].removesuffix(b" ") if unit == "word" else cleaned[start:last]
        start = end


def _next_unit(cleaned: bytes, position: int, unit: Unit) -> int:
    """Returns where the first unit at or after `position` starts, or the end."""
    if unit == "word":
        space = cleaned.find(b" ", position - 1)
        return space + 1 if space >= 0 else len(cleaned)
    while position < len(cleaned) and cleaned[position] & 0xC0 == 0x80:
        position += 1
    return min(position, len(cleaned))


def _jaccard(slices: Iterable[tuple[Hashes, Hashes]]) -> float:
    """Returns the similarity of two sets given slice by slice."""
    both = either = 0
    for left, right in slices:
        common = _common(left, right)
        both += common
        either += len(left) + len(right) - common
    return both / either if either else 0.0


def _common(left: Hashes, right: Hashes) -> int:
    from corpus_assets.dedup.kernels.compare import common

    return common(left, right)
