"""Tags that tell Dagster's own staleness which inputs a partition was made from."""

import dagster as dg

from corpus_assets.checking import asset_key
from resources.stage.declaration import Stage

DATA_VERSION = "dagster/data_version"
TOTAL_TAG = "corpus/total"
"""Marks the sum over all partitions of an asset, which is no content."""

_TOTALS = 4  # How many sums may follow one another: one after each look that reported the asset.


def is_total(event: dg.AssetMaterialization | None) -> bool:
    """Returns whether an event is a sum over partitions."""
    return event is not None and TOTAL_TAG in (event.tags or {})


class Provenance:
    """The newest event of every asset, as far as stages read it."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._newest: dict[str, tuple[int, str] | None] = {}

    def newest(self, asset: str, storage_id: int | None, version: str) -> None:
        """Notes an event that was just stored. storage_id: None if it has to be looked up."""
        if storage_id is None:
            self._newest.pop(asset, None)
        else:
            self._newest[asset] = (storage_id, version)

    def look_up(self, stage: Stage) -> None:
        """Looks up the newest events of all that a stage reads."""
        for edge in stage.inputs:
            self._find(edge.asset)

    def tags(self, stage: Stage) -> dict[str, str]:
        """Returns the tags of events of a stage whose inputs have their events."""
        tags: dict[str, str] = {}
        for edge in stage.inputs:
            if (found := self._find(edge.asset)) is not None:
                name = asset_key(edge.asset).to_user_string()
                tags[f"dagster/input_event_pointer/{name}"] = str(found[0])
                tags[f"dagster/input_data_version/{name}"] = found[1]
        return tags

    def _find(self, asset: str) -> tuple[int, str] | None:
        if asset not in self._newest:
            found = self._instance.fetch_materializations(asset_key(asset), limit=_TOTALS + 1).records
            newest = next((record for record in found if not is_total(record.asset_materialization)), None)
            tags = newest.event_log_entry.tags if newest else None
            self._newest[asset] = (newest.storage_id, (tags or {}).get(DATA_VERSION, "")) if newest else None
        return self._newest[asset]
