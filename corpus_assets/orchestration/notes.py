"""Notes at the end of a build: sentences that a person should read, but that are not failures."""

from collections.abc import Iterator

from resources.planning.planner import Planner
from resources.stage.declaration import Stage
from resources.stage.partition import Partition


def build_notes(planner: Planner) -> list[str]:
    """Returns the notes on the raw files, then those of each stage."""
    return [*planner.listing.notes(), *(note for stage in planner.graph for note in _stage_notes(planner, stage))]


def _stage_notes(planner: Planner, stage: Stage) -> Iterator[str]:
    if stage.notes is None:
        return
    records, shards = planner.records(stage.name), planner.listing.by_key()
    built = [key for key in planner.partitions(stage) if key in records]
    partitions = [Partition(planner.storage, records[key], shards.get(key or "")) for key in built]
    yield from stage.notes(partitions, planner.settings.values)
