"""The good rows of a raw file; the bad ones are counted with their reason, or fail the shard."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from corpus_assets.raw.faults import BadRow
from resources.errors import BadFileError, StorageError
from resources.sources import Shard
from resources.task import Task

T = TypeVar("T")
OnFault = Literal["skip", "fail"]


def kept_rows(task: Task, rows: Iterable[T | BadRow], on_bad_row: OnFault) -> Iterator[T]:
    """Rows that are good. Raises `BadFileError` for a bad one with `fail`, and when the file changed meanwhile."""
    shard = task.shard
    for row in rows:
        if not isinstance(row, BadRow):
            yield row
        elif on_bad_row == "fail":
            raise BadFileError(f"{shard.source}/{row.where}", f"{row.reason}: {row.detail}")
        else:
            task.drop(row.reason, example=f"{shard.source}/{row.where}: {row.reason}: {row.detail}")
    if shard.changed():
        raise StorageError(f"{shard.label} changed while it was being read; build again")


def write_kept(task: Task, rows: Iterator[T], on_bad_file: OnFault, write: Callable[[Iterator[T]], None]) -> None:
    """Write the rows of a file; one that cannot be read fails the shard, or counts as one that has none."""
    try:
        write(rows)
    except BadFileError as error:
        named = _named(task.shard, error)
        if on_bad_file == "fail":
            raise named from error
        task.restart()
        task.drop("bad_file", example=str(named))
        write(iter(()))


def _named(shard: Shard, error: BadFileError) -> BadFileError:
    return BadFileError(f"{shard.source}/{error.where.removeprefix(f'{shard.source}/')}", error.problem)
