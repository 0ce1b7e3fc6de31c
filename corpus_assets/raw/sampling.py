"""Chooses the rows of a sample by a keyed hash of seed, source, raw file and row alone."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace
from typing import Any, Final, TypeVar

from typing_extensions import override

from corpus_assets.raw.losses import NOT_SAMPLED
from corpus_assets.raw.readers import RawFile, read_rows
from corpus_assets.raw.rows.faults import BadRow, PassedOver
from corpus_assets.raw.rows.rules import FormatOptions, Limits, RowParser
from resources.errors import BadFileError
from resources.hashing import hash_parts, keyed_hasher
from resources.shards.listing import Shard
from resources.stage.task import Task

LEFT_OUT_BYTES: Final = "not_sampled_bytes"
"""Statistic of a sample: bytes of the texts outside it."""

_BITS: Final = 53
_WHOLE: Final = 1 << _BITS
_LEFT_OUT: Final = PassedOver("", NOT_SAMPLED, "")
T = TypeVar("T")


@dataclass(frozen=True)
class Chosen:
    """The rows of a sample. share: of all rows, more than 0."""

    share: float
    seed: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any], prefix: str) -> "Chosen | None":
        """Returns the choice in the parameters of a stage; None if it reads all rows."""
        share = parameters.get(f"{prefix}.sample.share")
        return None if share is None else cls(share, parameters[f"{prefix}.sample.seed"])

    def rows(self, shard: Shard) -> Callable[[int], bool]:
        """Returns a function that says whether a row of a raw file, from 0, is in the sample."""
        most, place = self.share * _WHOLE, places(shard, self.seed)
        return lambda number: place(number) < most


def sampled(
    rows: Iterable[T | BadRow], task: Task, chosen: Chosen | None, size: Callable[[T], int]
) -> Iterator[T | BadRow]:
    """Yields the rows of a raw file, including bad ones; a row outside the sample is replaced by a mark.

    size: bytes of a row's texts. Those of rows outside the sample are recorded, so that the size of the whole is known.
    """
    if chosen is None:
        yield from rows
        return
    has, left_out = chosen.rows(task.shard), 0
    for number, row in enumerate(rows):
        if has(number):
            yield row
        else:
            left_out += 0 if isinstance(row, BadRow) else size(row)
            yield _LEFT_OUT
    task.count(**{LEFT_OUT_BYTES: left_out})


def places(shard: Shard, seed: int) -> Callable[[int], int]:
    """Returns a function that gives each row of a raw file, from 0, one of 2^53 equally likely places."""
    hashed = keyed_hasher(NOT_SAMPLED, seed, shard.source, shard.path_digest())
    return lambda number: hashed(hash_parts(number)) >> (64 - _BITS)


def share_of_rows(limit: int, shards: Iterable[Shard], rows: Callable[[Shard], int], seed: int) -> float:
    """Returns the share that takes exactly `limit` rows of a source, those with the first places; 1 if it has no more.

    rows: counts the rows of a raw file. Memory: the places of `limit` rows.
    """
    last: list[int] = []  # the first places as negative numbers, so that the last place is the least number
    for shard in shards:
        place = places(shard, seed)
        for number in range(rows(shard)):
            found = -place(number)
            if len(last) < limit:
                heappush(last, found)
            elif found > last[0]:
                heapreplace(last, found)
    return (1 - last[0]) / _WHOLE if len(last) == limit else 1.0


def count_rows(shard: Shard, format_: str, longest_row: int, options: FormatOptions) -> int:
    """Returns the number of rows of a raw file, including bad ones, without parsing them; 0 for an unreadable file."""
    file = RawFile(shard.path, shard.open, shard.open_member)
    rows = read_rows(file, format_, Limits(line_bytes=longest_row), Unread, bare_strings=True, options=options)
    count = 0
    try:
        for _ in rows:
            count += 1
    except BadFileError:  # The build reports this file by name, or continues without it.
        return 0
    return count


class Unread(RowParser[None]):
    """Ignores the content of rows (a `RowParser`)."""

    required: Sequence[Sequence[str]] = ()
    places: Mapping[str, str] = {}
    textual: Sequence[str] = ()
    columns: Collection[str] | None = ()
    empty_files = False

    @override
    def begin_part(self, number: int) -> None:
        """Ignores it."""

    @override
    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> None:
        """Ignores a line."""

    @override
    def from_values(self, values: dict[str, object], place: str) -> None:
        """Ignores a row of a table."""

    @override
    def from_text(self, text: str, place: str) -> None:
        """Ignores a text."""

    @override
    def from_record(self, values: dict[str, object], place: str) -> None:
        """Ignores a record."""
