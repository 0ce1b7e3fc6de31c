"""Documents that the mix leaves out anyway: they are excluded, so that no document is removed in their favour."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.hooks import BandKeysHooks
from corpus_assets.dedup.shared import LEFT_OUT
from resources.errors import LedgerError
from resources.formats.attributes import FLAGS
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.task import Task

_BY_DEDUP = {"short_documents", "duplicates"}


def beside_left_out(stages: Sequence[Stage], leave_out: Sequence[str]) -> list[Stage]:
    """Returns the stages; band keys read the attributes of `leave_out` that are not made from band keys."""
    known = {stage.name: stage for stage in stages}
    names = [name for name in leave_out if name not in _BY_DEDUP and _is_attribute(known.get(name))]
    asked = [name for name in names if "band_keys" not in _read_for(name, known)]
    return [_asking(stage, asked) if stage.name == "band_keys" and asked else stage for stage in stages]


def is_left_out(task: Task, rows: int) -> NDArray[np.bool_]:
    """Returns which documents of a shard such an attribute flags, shape (rows,); `LedgerError` for mismatched rows."""
    found = np.zeros(rows, dtype=np.bool_)
    for name in task.parameters.get(LEFT_OUT, ()):
        flags = np.fromiter(task.input(name).flags(), dtype=np.bool_)
        if len(flags) != rows:
            raise LedgerError(f"{name} has {len(flags)} rows for {rows} documents of {task.key}; run `corpus build`")
        found |= flags
    return found


def _is_attribute(stage: Stage | None) -> bool:
    # Unknown names are refused once all stages are known.
    return stage is not None and (stage.partitioning, stage.io) == (Partitioning.SHARD, "documents")


def _read_for(name: str, known: Mapping[str, Stage]) -> set[str]:
    """Returns all assets that one is made from."""
    found: set[str] = set()
    frontier = [name]
    while frontier:
        stage = known.get(frontier.pop())
        new = {edge.asset for edge in stage.inputs} - found if stage else set()
        found |= new
        frontier += new
    return found


def _asking(stage: Stage, names: Sequence[str]) -> Stage:
    edges = (same(name, segment=FLAGS) for name in names)
    return replace(stage, inputs=(*stage.inputs, *edges), hooks=BandKeysHooks(tuple(names)))
