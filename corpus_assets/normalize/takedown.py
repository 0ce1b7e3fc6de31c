"""Leaves out the rows of a raw file of which no document may be made."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from resources.errors import LedgerError
from resources.formats.documents import Document
from resources.hashing import content_digest
from resources.stage.declaration import Stage, same
from resources.stage.task import Task

TAKEDOWN: Final = "takedown"
"""The asset that holds those rows, if takedown is configured."""

ROWS: Final = "rows"
"""Segment of the rows alone."""

NOTHING: Final = content_digest(b"no row")
"""Digest of that segment if there are none: then the documents are what they would be without takedown."""

NUMBER: Final = "number"
"""Counters: how many rows the raw file has."""

REASON: Final = "takedown"


def obeying(normalized: Stage) -> Stage:
    """Returns the stage of normalized documents, which then leaves out what takedown names."""
    return replace(normalized, inputs=(*normalized.inputs, same(TAKEDOWN, segment=ROWS, nothing=NOTHING)))


def without_named(task: Task, documents: Iterator[Document]) -> Iterator[Document]:
    """Yields the documents in whose rows takedown names none, and counts the others; all if it is not configured.

    Raises `LedgerError` if there are not as many documents as takedown has seen.
    """
    if not task.reads(TAKEDOWN):
        yield from documents
        return
    takedown = task.input(TAKEDOWN)
    named = iter(takedown.array(".npy").tolist())
    number, following = 0, next(named, None)
    for document in documents:
        if number == following:
            following = next(named, None)
            task.drop(REASON)
        else:
            yield document
        number += 1
    expected = takedown.counters(NUMBER)["rows"]
    if number != expected:
        raise LedgerError(f"{task.shard.label}: {number} documents, of which {takedown.name} has seen {expected}")
