"""Leaves out the rows of a raw file of which no document may be made."""

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
"""The asset that holds the keys of all rows of sources, if takedown is configured."""

TAKEDOWN: Final = "takedown"
"""The asset that holds those rows of sources, if takedown is configured."""

ROWS: Final = "rows"
"""Segment of the rows alone."""

NOTHING: Final = content_digest(b"no row")
"""Digest of that segment if there are none: then the documents are what they would be without takedown."""

NUMBER: Final = "number"
"""Counters: how many rows the raw file has."""

REASON: Final = "takedown"

Row = TypeVar("Row")


def obeying(stage: Stage, takedown: str) -> Stage:
    """Returns a stage that reads raw files, which then leaves out the rows that the asset `takedown` names."""
    return replace(stage, inputs=(*stage.inputs, same(takedown, segment=ROWS, nothing=NOTHING)))


def without_named(task: Task, rows: Iterator[Row], asset: str, gaps: Gaps) -> Iterator[Row]:
    """Yields the rows that takedown does not name, and counts the others; all if it is not configured.

    asset: what holds the rows that are named. gaps: of the good rows, with which it goes on. Raises `DamagedFileError`
    of the keys that takedown was made from if there are not as many rows as these are of.
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
            task.drop(REASON, shown=f"{task.shard.label} row {number}")  # Neither its id nor its text may be kept.
        else:
            yield row
        number += 1
    expected = takedown.counters(NUMBER)["rows"]
    if number != expected:
        keys = KEYS if asset == TAKEDOWN else dataset_names.document_keys(task.shard.source)
        problem = f"has keys of {expected} rows, and the file has {number}; build again"
        raise DamagedFileError(keys, takedown.key, task.shard.label, problem)
