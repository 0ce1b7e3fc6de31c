"""The asset `mixed_units`: in which unit each document of a chunk is."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.mix.cuts import cuts_of, lines_of
from resources.documents.unit_tables import MOST_UNITS, UNIT, UNIT_NAMES, UNITS
from resources.errors import BadFileError
from resources.stage.task import Task

_LINE = msgspec.json.Decoder(tuple[int, str])
_BLOCK = 1 << 16


def mixed_units(task: Task) -> None:
    """Writes the table of a chunk, and the names of its units in alphabetical order."""
    shards = task.inputs("document_units")
    numbers: dict[str, int] = {}
    blocks: list[NDArray[np.void]] = []
    rows: list[tuple[int, int]] = []
    for line in lines_of(shards, cuts_of(shards, task.key, task.memory), task.memory):
        hash_, unit = _LINE.decode(line)
        rows.append((hash_, numbers.setdefault(unit, len(numbers))))
        if len(numbers) > MOST_UNITS:
            raise BadFileError(
                task.key,
                f"mix.units: over {MOST_UNITS:,} units, such as {unit[:80]!r}; valid: labels of which there are few",
            )
        if len(rows) == _BLOCK:
            blocks.append(np.array(rows, UNIT))
            rows.clear()
    table = np.concatenate([*blocks, np.array(rows, UNIT)])
    _, first = np.unique(table["hash"], return_index=True)  # A document that is used repeatedly has a row for each use.
    found, names = table[first], sorted(numbers)
    places = np.array([names.index(name) for name in numbers], UNIT["unit"])
    if len(found):
        found["unit"] = places[found["unit"]]
    task.save_array(f"mixed/units/{task.key}{UNITS}", found)
    task.save_json(f"mixed/units/{task.key}{UNIT_NAMES}", names, rows=len(names))
    task.count(rows_in=len(table), rows_out=len(found), units=len(names))
