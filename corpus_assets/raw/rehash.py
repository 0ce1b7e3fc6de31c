"""Makes the next plan read all raw files again, whatever their sizes and times."""

from resources.planning.planner import Planner
from resources.shards.listing import remembered_digest

UNKNOWN = "to be read again"


def forget_stamps(planner: Planner) -> int:
    """Removes the times in the records of raw files, so that the next plan digests all; returns how many.

    The caller holds the store, and makes a new planner afterwards. That plan compares contents: a changed file is `raw
    shard ... changed`, and any other is fresh and gets its time back with the next build.
    """
    forgotten = 0
    for stage in planner.graph:
        if stage.looks_outside and not stage.lists_shards:
            for key, record in planner.records(stage.name).items():
                if key in planner.partitions(stage):
                    seen = record.seen or {"bytes": record.statistics.get("bytes")}
                    planner.storage.require_held()
                    version = planner.ledger.version(stage.name, key)
                    planner.ledger.replace(record.with_seen({**seen, "modified": UNKNOWN}), version)
                    forgotten += 1
    remembered_digest.cache_clear()
    return forgotten
