"""What readers of token files give: ids in blocks of bounded size, and where documents end among them."""

import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.token_files import TokenFiles
from resources.errors import BadFileError
from resources.raw_places.files import printable

BLOCK_IDS = 1 << 18
"""Ids of a block."""
_STEP = 1 << 20
AnyIds = NDArray[np.integer[Any]]


class Pieces(NamedTuple):
    """Ids that follow each other, (n,), and where documents end among them: int64 (documents,), rising, from 0 to n.

    Ids after the last end are of a document that goes on in the next pieces.
    """

    ids: AnyIds
    ends: NDArray[np.int64]


@dataclass(frozen=True)
class How:
    """How files are read.

    section: the options. vocabulary: every id is less. separator: the id between documents, None if there is none.
    """

    section: TokenFiles
    vocabulary: int
    separator: int | None


@dataclass(frozen=True)
class TokenSource:
    """The files of one shard.

    first: the path of the one that stands for all. members: the others, from its folder. opener: opens a new seekable
    stream of the first, for an empty name, or of a member.
    """

    first: str
    members: tuple[str, ...]
    opener: Callable[[str], BinaryIO]

    def open(self, name: str = "") -> "TokenFile":
        """Opens the first file, or a member by its name."""
        path = posixpath.join(posixpath.dirname(self.first), name) if name else self.first
        return TokenFile(self.opener(name), printable(path))

    def open_ending(self, suffix: str) -> "TokenFile":
        """Opens the file whose name ends so; of a pair with one half alone the first file, which says why that is."""
        found = (name for name in self.members if name.endswith(suffix))
        return self.open("" if self.first.endswith(suffix) else next(found, ""))


class TokenFile:
    """A file that is read in order, or from a place on. where: its path in messages."""

    def __init__(self, file: BinaryIO, where: str) -> None:
        self.file = file
        self.where = where

    @property
    def size(self) -> int:
        """Its bytes."""
        place = self.file.tell()
        end = self.file.seek(0, 2)
        self.file.seek(place)
        return end

    def bad(self, problem: str) -> BadFileError:
        """Returns an error with its path."""
        return BadFileError(self.where, problem)

    def read(self, size: int, what: str) -> bytes:
        """Returns the next `size` bytes, which are `what`; `BadFileError` if there are fewer.

        It takes no more memory than there are bytes, whatever a header says.
        """
        found = bytearray()
        while len(found) < size and (block := self.file.read(min(_STEP, size - len(found)))):
            found += block
        if len(found) < size:
            raise self.bad(f"is cut off: {what} needs {size:,} bytes, and {len(found):,} are left")
        return bytes(found)

    def array(self, dtype: np.dtype[Any], count: int, what: str) -> NDArray[Any]:
        """Returns the next numbers, (count,)."""
        return np.frombuffer(self.read(count * dtype.itemsize, what), dtype)

    def array_at(self, place: int, dtype: np.dtype[Any], count: int, what: str) -> NDArray[Any]:
        """Returns the numbers from a byte of the file on, (count,)."""
        self.file.seek(place)
        return self.array(dtype, count, what)

    def blocks(self, dtype: np.dtype[Any], count: int, what: str) -> Iterator[NDArray[Any]]:
        """Yields the next numbers in blocks of `BLOCK_IDS`, the last one shorter."""
        for start in range(0, count, BLOCK_IDS):
            yield self.array(dtype, min(BLOCK_IDS, count - start), what)

    def count_of(self, dtype: np.dtype[Any], start: int = 0) -> int:
        """Returns how many ids its bytes from `start` on are; `BadFileError` if it ends within one."""
        count, odd = divmod(self.size - start, dtype.itemsize)
        if odd:
            raise self.bad(f"has {self.size - start:,} bytes of ids; valid for {dtype}: a multiple of {dtype.itemsize}")
        return count


def by_lengths(data: TokenFile, dtype: np.dtype[Any], lengths: Iterable[NDArray[np.int64]]) -> Iterator[Pieces]:
    """Yields the ids of a file, from where it is read, with the ends of documents of these lengths."""
    for block in lengths:
        ends = np.cumsum(block)
        total, at, done = int(ends[-1]) if len(ends) else 0, 0, 0
        while done < len(ends):
            ids = data.array(dtype, min(BLOCK_IDS, total - at), "a document")
            stop = int(np.searchsorted(ends, at + len(ids), side="right"))
            yield Pieces(ids, ends[done:stop] - at)
            at, done = at + len(ids), stop


def by_separator(blocks: Iterable[AnyIds], separator: int, *, before: bool) -> Iterator[Pieces]:
    """Yields the blocks of a stream of ids with the ends of documents, which a separator stands before or after.

    It belongs to the document. What follows the last separator after documents is one too, if it has any id.
    """
    nothing, at_end = True, True
    ids: AnyIds = np.empty(0, np.int64)
    for ids in blocks:
        ends = np.flatnonzero(ids == separator).astype(np.int64) + (not before)
        if before and nothing and len(ends) and ends[0] == 0:
            ends = ends[1:]
        if len(ids):
            nothing, at_end = False, not before and bool(ids[-1] == separator)
        yield Pieces(ids, ends)
    if not at_end:
        yield Pieces(ids[:0], np.zeros(1, np.int64))
