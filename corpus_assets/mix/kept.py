"""Which documents of a shard the mix takes: those that no attribute in `mix.leave_out` flags."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Final

from resources.errors import LedgerError
from resources.formats.attributes import FLAGS
from resources.stage.partition import Partition
from resources.stage.task import Task

LEAVE_OUT: Final = "mix.leave_out"
REASONS: Final = {"short_documents": "short", "duplicates": "duplicate"}
"""The drop reason of flagged documents, if it is not the name of the attribute."""


def flags_of_all(attributes: Sequence[Partition], rows: int) -> Iterator[tuple[bool, ...]]:
    """Yields for each document whether each attribute flags it; `LedgerError` for an attribute without flags."""
    for attribute in attributes:
        if FLAGS not in attribute.record.segments:
            raise LedgerError(f"{LEAVE_OUT}: {attribute.name} does not say which documents are flagged")
    return zip(*(attribute.flags() for attribute in attributes), strict=True) if attributes else repeat((), rows)


def kept(task: Task, rows: int) -> Iterator[bool]:
    """Yields for each of so many documents whether the mix takes it."""
    return (not any(flags) for flags in flags_of_all([task.input(name) for name in task[LEAVE_OUT]], rows))
