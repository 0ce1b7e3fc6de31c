"""Leaves out the rows of a raw file that a takedown names."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeVar

from corpus_assets import dataset_names
from corpus_assets.raw.bad_rows import Gaps
from resources.errors import DamagedFileError
from resources.hashing import content_digest
from resources.stage.declaration import Stage, same
from resources.stage.task import Task

KEYS: Final = "document_keys"
"""The asset with the keys of all rows of sources, if takedown is configured."""

TAKEDOWN: Final = "takedown"
"""The asset with the named rows of sources, if takedown is configured."""

ROWS: Final = "rows"
"""Segment of the rows alone."""

NOTHING: Final = content_digest(b"no row")
"""Digest of that segment without rows: then the documents are the same as without takedown."""

NUMBER: Final = "number"
"""Counters: how many rows the raw file has."""

REASON: Final = "takedown"

Row = TypeVar("Row")


def obeying(stage: Stage, takedown: str) -> Stage:
    """Returns a stage that reads raw files without the rows that the asset `takedown` names."""
    return replace(stage, inputs=(*stage.inputs, same(takedown, segment=ROWS, nothing=NOTHING)))


def without_named(task: Task, rows: Iterator[Row], asset: str, gaps: Gaps) -> Iterator[Row]:
    """Yields the rows that takedown does not name, and counts the others; all if it is not configured.

    asset: has the named rows. gaps: of the good rows; named rows are added to it. Raises `DamagedFileError` for the
    keys that takedown was made from if their number of rows differs.
    """
    if not task.reads(asset):
        yield from rows
        return
    takedown = task.input(asset)
    named = iter(takedown.array(".npy").tolist())
    number, following = 0, next(named, None)
    for row in rows:
        if number == following:
            following = next(named, None)
            gaps.leave_out()
            task.drop(REASON, shown=f"{task.shard.label} row {number}")  # Its id and text must not be kept.
        else:
            yield row
        number += 1
    expected = takedown.counters(NUMBER)["rows"]
    if number != expected:
        keys = KEYS if asset == TAKEDOWN else dataset_names.document_keys(task.shard.source)
        problem = f"has keys of {expected} rows, and the file has {number}; build again"
        raise DamagedFileError(keys, takedown.key, task.shard.label, problem)
