"""Takes the good rows of a raw file; counts the bad ones with their reason, or fails the shard."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

import numpy as np

from corpus_assets.raw.losses import BAD_FILE, MISLABELLED, Read
from corpus_assets.raw.rows.faults import BadRow, PassedOver
from corpus_assets.raw.rows.identities import repeated_notes
from corpus_assets.raw.unread_keys import section_of, unread_keys
from resources.documents.looked_for import absent_notes
from resources.errors import BadFileError, StorageError
from resources.shards.listing import Shard
from resources.stage.partition import Partition
from resources.stage.task import Task

T = TypeVar("T")
OnFault = Literal["skip", "fail"]
GAPS: Final = ".gaps.npy"
"""Suffix of the derived file with the `Gaps` of a raw file, if there are any."""


class Gaps:
    """Numbers of the rows of a raw file, from 0, that give no document or example; eight bytes each.

    row: number of the row that was read last, bad ones included.
    """

    def __init__(self) -> None:
        self.row = -1
        self._left_out = array("Q")

    def leave_out(self) -> None:
        """Notes that the row that was read last gives nothing."""
        self._left_out.append(self.row)

    def save(self, task: Task, path: str) -> None:
        """Writes the numbers, if there are any."""
        if self._left_out:
            task.save_array(f"{path}{GAPS}", np.frombuffer(self._left_out, np.uint64), derived=True)


def good_rows(task: Task, rows: Iterable[T | BadRow], on_bad_row: OnFault, gaps: Gaps | None = None) -> Iterator[T]:
    """Yields the good rows, and drops the bad ones with their reason. gaps: notes which rows these are.

    Raises `BadFileError` for a bad row if `on_bad_row` is `fail`, and `StorageError` if the file changed meanwhile.
    """
    shard = task.shard
    gaps = gaps or Gaps()
    for gaps.row, row in enumerate(rows):
        if not isinstance(row, BadRow):
            yield row
            continue
        gaps.leave_out()
        if isinstance(row, PassedOver):
            place = f"{shard.source}/{row.where}"
            if row.reason in MISLABELLED:
                task.drop(row.reason, example=f"{place}: {row.reason}: {row.detail}")
            else:
                task.drop(row.reason, shown=f"{place}: {row.detail}" if row.where else None)
        elif on_bad_row == "fail":
            raise BadFileError(f"{shard.source}/{row.where}", f"{row.reason}: {row.detail}")
        else:
            task.drop(row.reason, example=f"{shard.source}/{row.where}: {row.reason}: {row.detail}")
    require_unchanged(shard)


def require_unchanged(shard: Shard) -> None:
    """Raises `StorageError` if a raw file is not as it was listed."""
    if shard.changed():
        raise StorageError(f"{shard.label} changed while it was being read; build again")


def write_good_rows(task: Task, rows: Iterator[T], on_bad_file: OnFault, write: Callable[[Iterator[T]], None]) -> None:
    """Writes the rows of a file; a file that cannot be read fails the shard, or is dropped as if it had no rows.

    Raises `StorageError` if the file changed meanwhile: a half-written file may be complete when it is read again.
    """
    try:
        write(rows)
    except BadFileError as error:
        if not task.shard.problem:
            require_unchanged(task.shard)
        named = _named(task.shard, error)
        if on_bad_file == "fail":
            raise named from error
        task.restart()
        task.drop(BAD_FILE, example=str(named))
        write(iter(()))


def _named(shard: Shard, error: BadFileError) -> BadFileError:
    return BadFileError(f"{shard.source}/{error.where.removeprefix(f'{shard.source}/')}", error.problem)


def dropped_notes(partitions: Sequence[Partition], settings: Mapping[str, Any], what: str = "source") -> Iterator[str]:
    """Yields sentences, with reasons, for each source with rows or files that gave no document or example.

    And for each name that no row has, and each key that no file has a use for.

    what: `source`, or `dataset` for files of a dataset's own.
    """
    sources: dict[str, list[Partition]] = {}
    for partition in partitions:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        sources.setdefault(partition.shard.source, []).append(partition)
    for source, read in sources.items():
        found = Read()
        for partition in read:
            found.add(partition.record)
        dropped = [f"{what} {source}: {words}" for words in found.all_dropped()]
        absent = list(absent_notes(read, what))
        if len(found.bad_rows) == len(absent) == 1 and not found.rows_out:  # Each fault gives one sentence.
            dropped[0] += f"; {absent.pop()}"
        yield from (*dropped, *absent)
        values, where = section_of(settings, what, source)
        if "csv" in values:  # Files of ids are read by no such keys.
            yield from unread_keys(read, values, where, f"of {what} {source}")
    yield from repeated_notes(partitions, what)
