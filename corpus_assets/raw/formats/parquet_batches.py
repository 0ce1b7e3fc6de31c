"""How many rows of a parquet file are read at a time, by what their values take once they are decoded."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from corpus_assets.raw.formats.columns import BATCH_BYTES, MAX_BATCH_ROWS
from corpus_assets.raw.formats.parquet_pages import DICTIONARY, FRONT_CODED, CheckedPages, Chunk, PageError
from corpus_assets.raw.formats.parquet_values import front_coded_bytes, longest_in_dictionary
from resources.errors import BadFileError
from resources.processes.long_documents import wait_for_turn

MOST_GAIN: Final = 4
"""Times its stored size that a chunk of lists may take in memory, whatever it takes."""


class Group(NamedTuple):
    """A row group: its number of rows, and the chunks of the columns that are read."""

    rows: int
    chunks: Sequence[Chunk]


class Run(NamedTuple):
    """Row groups that are read together, with the rows of a batch.

    shared: columns in lists whose values are read as references to those of a dictionary.
    """

    groups: Sequence[int]
    rows: int
    shared: Sequence[str]


class _Sizes(NamedTuple):
    """Bytes that the values of a chunk take: all together, None if rows may share them without end, and the largest."""

    whole: int | None
    largest: int


@dataclass(frozen=True)
class Batches:
    """Plans the batches of the rows of a file.

    codec: returns how the pages of a column in a row group are compressed. most_in_lists: bytes that lists of a chunk
    may take if their values share bytes in the file. where: the file.
    """

    pages: CheckedPages
    codec: Callable[[int, str], str]
    most_in_lists: int
    where: str

    def runs(self, groups: Sequence[Group]) -> Iterator[Run]:
        """Yields all groups in order, in batches of at most about `BATCH_BYTES`, or of one row.

        Only a row of lists may have more, as its values may lie in any number of pages. A group whose footer leaves
        it open is looked at before it is read, and is read alone: its pages are kept for the library. Raises
        `BadFileError` for pages that are damaged, and for lists that take too much.
        """
        for known, numbers in groupby(range(len(groups)), lambda number: _is_known(groups[number])):
            if known:
                yield Run(list(numbers), MAX_BATCH_ROWS, ())
            else:
                yield from (self._looked_at(number, groups[number]) for number in numbers)

    def _looked_at(self, number: int, group: Group) -> Run:
        shared, sizes = [], []
        for chunk in group.chunks:
            largest = max((page.decompressed for page, _ in self.pages.pages(chunk)), default=0)
            wait_for_turn(largest)
            if not chunk.inner_values:
                sizes.append(_Sizes(_from_footer(chunk).whole, max(largest, chunk.width)))
                continue
            whole, is_shared = self._lists(chunk, number)
            sizes.append(_Sizes(whole, max(largest, whole // group.rows)))
            shared += [chunk.path] if is_shared else []
        return Run([number], _batch_rows(sizes, group.rows), shared)

    def _lists(self, chunk: Chunk, group: int) -> tuple[int, bool]:
        """Returns the bytes of a chunk of lists in memory, and whether its texts are to be read as references."""
        if chunk.width:
            return self._allowed(chunk, chunk.inner_values * chunk.width), False
        if not chunk.shares:
            return chunk.decompressed, False
        references = longest = whole = 0
        codec = self.codec(group, chunk.path)
        for page, body in self.pages.pages(chunk):
            try:
                if page.is_dictionary:
                    longest = longest_in_dictionary(codec, page, body)
                elif page.encoding in DICTIONARY:
                    references += page.values
                elif page.encoding == FRONT_CODED:
                    whole += front_coded_bytes(chunk, codec, page, body)
            except PageError as fault:
                raise BadFileError(self.where, f"a page of column {chunk.path!r} is damaged: {fault}") from None
        whole = self._allowed(chunk, whole)
        if references * longest > BATCH_BYTES:
            return chunk.decompressed + whole, True
        return chunk.decompressed + whole + references * longest, False

    def _allowed(self, chunk: Chunk, size: int) -> int:
        if size > max(self.most_in_lists, MOST_GAIN * chunk.decompressed):
            said = f"lists in column {chunk.path!r} share bytes, and take {size} without, over the limit of "
            said += f"{self.most_in_lists} (four times `longest_row`)"
            raise BadFileError(self.where, f"{said}; write smaller row groups, or plain values")
        return size


def _is_known(group: Group) -> bool:
    """Returns whether the footer alone shows that a batch may have the most rows."""
    return not group.rows or _batch_rows(map(_from_footer, group.chunks), group.rows) == MAX_BATCH_ROWS


def _from_footer(chunk: Chunk) -> _Sizes:
    """Returns the most that the values of a chunk may take."""
    if chunk.inner_values:
        each = chunk.width or (chunk.decompressed if chunk.shares else 0)
        whole = chunk.decompressed + chunk.inner_values * each
        return _Sizes(whole, whole)
    return _Sizes(None if chunk.shares or chunk.width else chunk.decompressed, chunk.width or chunk.decompressed)


def _batch_rows(sizes: Iterable[_Sizes], group_rows: int) -> int:
    """Returns the most rows, a power of two, whose values take at most `BATCH_BYTES` in the worst case; at least 1."""
    known, rows = list(sizes), MAX_BATCH_ROWS
    while rows > 1 and sum(_most(size, rows, group_rows) for size in known) > BATCH_BYTES:
        rows //= 2
    return rows


def _most(size: _Sizes, rows: int, group_rows: int) -> int:
    of_each = rows * size.largest
    return of_each if size.whole is None else min(of_each, size.whole * -(-rows // group_rows))
