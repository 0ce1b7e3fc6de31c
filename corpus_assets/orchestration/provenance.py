"""Tags that tell Dagster's own staleness which inputs a partition was made from."""

import dagster as dg

from corpus_assets.checking import asset_key
from resources.stage.declaration import Stage

DATA_VERSION = "dagster/data_version"


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
            records = self._instance.fetch_materializations(asset_key(asset), limit=1).records
            self._newest[asset] = (
                (records[0].storage_id, (records[0].event_log_entry.tags or {}).get(DATA_VERSION, ""))
                if records
                else None
            )
        return self._newest[asset]
