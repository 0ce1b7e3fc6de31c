"""Counts of documents with a date, which `dedup.keep: newest` needs."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from resources.documents.looked_for import MOST_NAMES, missing
from resources.formats.created import UNKNOWN
from resources.formats.documents import Document
from resources.stage.partition import Partition

DATED: Final = "dated"
"""Statistic: how many documents have a creation date; if none has, also names of their metadata."""

_NAMES: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NOTED: Final = 100


class Dates:
    """Counts the documents of one file that have a date."""

    def __init__(self) -> None:
        self._dated = self._rows = 0
        self._there: dict[str, None] = {}

    def add(self, document: Document, created: int) -> None:
        """Counts a document. created: as `created_microseconds` gives it."""
        self._rows += 1
        if created != UNKNOWN:
            self._dated += 1
        elif self._rows <= _NOTED and len(self._there) < MOST_NAMES:
            metadata = bytes(document.metadata)
            given = (
                {} if document.created is None else {f"created {document.created[:_NOTED]!r}, which is no date": None}
            )
            self._there |= given | dict.fromkeys(
                f"metadata.{key}" for key in (_NAMES.decode(metadata) if metadata else ())
            )

    def numbers(self) -> dict[str, Any]:
        """Returns the statistics of the file."""
        there = list(self._there)[:MOST_NAMES]
        return {DATED: {"documents": self._dated, "there": [] if self._dated else there}}


def undated_notes(partitions: Iterable[Partition]) -> Iterator[str]:
    """Yields a sentence if no document of the corpus has a date."""
    rows, there = 0, dict[str, None]()
    for partition in partitions:
        numbers = partition.record.statistics
        dates = numbers.get(DATED)
        if dates is None or dates["documents"]:
            return
        rows += numbers.get("rows_out", 0)
        there |= dict.fromkeys(dates["there"])
    if rows:
        yield missing("dedup.keep 'newest', which asks for 'created'", rows, "documents", there)
