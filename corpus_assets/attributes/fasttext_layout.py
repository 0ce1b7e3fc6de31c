"""Checks the layout of a fastText model before the library reads it.

The library trusts every size in a model, and reads an unterminated word for ever. So a model must match its sizes to
the last byte, and its references must be valid. Source: fastText 0.9.3, `FastText::loadModel`, `Dictionary::load`,
`QuantMatrix::load`, `ProductQuantizer::load`.
"""

import struct
from typing import Any, BinaryIO, Final, NamedTuple

_MAGIC: Final = 793712314
_NEWEST: Final = 12
SUPERVISED: Final = 3
_ARGUMENTS: Final = struct.Struct("<ii12id")
_DICTIONARY: Final = struct.Struct("<3i2q")
_AFTER_WORD: Final = struct.Struct("<qb")
_KINDS: Final = ("word", "label")
_MOST_COUNTED: Final = 10**15
_LONGEST_NGRAM: Final = 255
_PRUNED_ENTRY: Final = 8
_CENTROIDS: Final = 256
_FLOAT: Final = 4
_BLOCK: Final = 1 << 20
_LONGEST_WORD: Final = 1 << 20


class ModelError(ValueError):
    """A file is not a usable fastText model."""


class Arguments(NamedTuple):
    """The fields of a model's head that its layout depends on. model: `SUPERVISED`, or a kind of word vectors."""

    dim: int
    word_ngrams: int
    model: int
    bucket: int
    longest: int


def read_arguments(stream: BinaryIO) -> Arguments:
    """Returns the arguments at the beginning of a model; `ModelError` if it does not begin like one."""
    head = stream.read(_ARGUMENTS.size)
    fields = _ARGUMENTS.unpack(head) if len(head) == _ARGUMENTS.size else (0, 0)
    if fields[0] != _MAGIC or fields[1] > _NEWEST:
        raise ModelError("no model of fastText (a `.bin` or `.ftz` file)")
    version, model, longest = fields[1], fields[9], fields[12]
    if version == _NEWEST - 1 and model == SUPERVISED:
        longest = 0
    return Arguments(fields[2], fields[7], model, fields[10], longest)


def check_layout(stream: BinaryIO) -> None:
    """Raises `ModelError` unless a model of labels is whole. stream: at its beginning; it is read to its end."""
    given = read_arguments(stream)
    rest = _Rest(stream)
    words, labels, pruned = _check_dictionary(rest)
    ngrams = given.word_ngrams > 1 or given.longest > 0
    _require(given.bucket > 0 or not ngrams, f"n-grams in {given.bucket} buckets")
    _require(given.longest <= _LONGEST_NGRAM, f"n-grams of {given.longest} characters")
    quantized = rest.flag("quantized")
    rows, dim = _check_matrix(rest, quantized=quantized)
    _require(dim == given.dim > 0, f"vectors of {dim} numbers where {given.dim} are said")
    kept = pruned if pruned >= 0 else given.bucket * ngrams
    _require(rows >= words + kept, f"{rows} vectors for {words} words and their n-grams")
    rows, dim = _check_matrix(rest, quantized=rest.flag("output") and quantized)
    _require((rows, dim) == (labels, given.dim), f"{rows} vectors of {dim} numbers for {labels} labels")
    _require(not rest.take(1), "bytes after its end")


def _check_dictionary(rest: "_Rest") -> tuple[int, int, int]:
    """Returns words, labels and kept n-grams (-1: all) of the dictionary that comes next."""
    size, words, labels, _, pruned = _DICTIONARY.unpack(rest.exactly(_DICTIONARY.size))
    _require(words >= 0 and labels > 0 and size == words + labels, f"{size} entries: {words} words, {labels} labels")
    for number in range(size):
        count, kind = rest.entry()
        _require(kind == (number >= words), f"a {_KINDS[number < words]} as entry {number} of its dictionary")
        _require(0 <= count < _MOST_COUNTED, f"a word that was counted {count} times")
    for _ in range(max(pruned, 0)):
        _, place = struct.unpack("<2i", rest.exactly(_PRUNED_ENTRY))
        _require(0 <= place < pruned, f"an n-gram with vector {place} of {pruned}")
    return words, labels, pruned


def _check_matrix(rest: "_Rest", *, quantized: bool) -> tuple[int, int]:
    """Returns rows and columns of the matrix that comes next."""
    if not quantized:
        rows, columns = struct.unpack("<2q", rest.exactly(16))
        _require(rows >= 0 and columns >= 0, f"a matrix of {rows} rows and {columns} columns")
        rest.skip(rows * columns * _FLOAT)
        return rows, columns
    has_norms = rest.flag("norms")
    rows, columns, codes = struct.unpack("<2qi", rest.exactly(20))
    _require(rows >= 0 and columns >= 0 and codes >= 0, f"a matrix of {rows} rows, {columns} columns, {codes} codes")
    rest.skip(codes)
    parts = _check_quantizer(rest, columns)
    _require(codes == rows * parts, f"{codes} codes for {rows} rows of {parts} parts")
    if has_norms:
        rest.skip(rows)
        _check_quantizer(rest, 1)
    return rows, columns


def _check_quantizer(rest: "_Rest", columns: int) -> int:
    """Returns the number of parts per row in the next quantizer."""
    dim, parts, width, last = struct.unpack("<4i", rest.exactly(16))
    fits = dim == columns and width > 0 and 0 < last <= width and (parts - 1) * width + last == dim
    _require(fits, f"a quantizer of {dim} numbers in {parts} parts of {width}, the last of {last}")
    rest.skip(dim * _CENTROIDS * _FLOAT)
    return int(parts)


class _Rest:
    """What follows in a stream, in blocks."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._block = b""
        self._place = 0

    def take(self, size: int) -> bytes:
        """Returns the next bytes, fewer at the end."""
        if self._place + size > len(self._block):
            self._block = self._block[self._place :] + self._stream.read(max(size, _BLOCK))
            self._place = 0
        found = self._block[self._place : self._place + size]
        self._place += len(found)
        return found

    def exactly(self, size: int) -> bytes:
        """Returns the next bytes; `ModelError` if there are fewer."""
        found = self.take(size)
        _require(len(found) == size, "an early end")
        return found

    def skip(self, size: int) -> None:
        """Skips bytes; errors as above."""
        while size > 0:
            size -= len(self.exactly(min(size, _BLOCK)))

    def flag(self, name: str) -> bool:
        """Returns a byte that is 0 or 1."""
        (value,) = self.exactly(1)
        _require(value < 2, f"{value} for the flag {name!r}; valid: 0, 1")
        return bool(value)

    def entry(self) -> tuple[int, int]:
        """Skips a word; returns its count and its type."""
        while (end := self._block.find(b"\0", self._place)) < 0:
            _require(len(self._block) - self._place < _LONGEST_WORD, f"a word of more than {_LONGEST_WORD} bytes")
            more = self._stream.read(_BLOCK)
            _require(bool(more), "an early end, inside a word")
            self._block = self._block[self._place :] + more
            self._place = 0
        self._place = end + 1
        count, kind = _AFTER_WORD.unpack(self.exactly(_AFTER_WORD.size))
        return count, kind


def _require(holds: Any, problem: str) -> None:
    if not holds:
        raise ModelError(f"is damaged: it has {problem}")
