"""Dropped rows with their text, for people: found again in the stage's input."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.documents import decode_document
from resources.stage.counts import SHOWN_ROWS, dropped_row
from resources.stage.partition import Partition
from resources.stage.task import Task


def show_rows(task: Task, given: Partition, reason: str, gone: NDArray[np.bool_]) -> None:
    """Keeps the first rows of documents that are dropped for a reason. gone: which rows are (rows,)."""
    places = np.flatnonzero(gone)[:SHOWN_ROWS]
    first = np.zeros(len(gone), np.bool_)
    first[places] = True
    for place, line in zip(places.tolist(), given.chosen_lines(first) if len(places) else (), strict=True):
        row = decode_document(line)
        task.drop(reason, 0, shown=dropped_row(f"{row.source}, {given.name} row {place}", row.id, row.text))
