"""Why a partition has no record, in words."""

from collections.abc import Callable, Mapping

from resources.ledger.ledger import Record
from resources.stage.declaration import Partitioning, Stage
from resources.stage.graph import Graph


class Absences:
    """What was built when it was first asked about: what a build makes meanwhile changes no reason.

    records: of an asset, by key.
    """

    def __init__(self, graph: Graph, records: Callable[[str], Mapping[str | None, Record]]) -> None:
        self._digesting = {stage.shard_set: stage.name for stage in graph if stage.digests_raw_files}
        self._records = records
        self._built: dict[str, frozenset[str | None]] = {}

    def reason(self, stage: Stage, key: str | None) -> str:
        """Returns why a partition is absent."""
        if stage.partitioning is not Partitioning.SHARD:
            return "not built"
        raw = self._digesting.get(stage.shard_set)
        if raw is None or key not in self._known(raw):
            return "new shard"
        return "not built, or removed by `corpus verify --mend`" if self._known(stage.name) else "not built yet"

    def _known(self, asset: str) -> frozenset[str | None]:
        if asset not in self._built:
            self._built[asset] = frozenset(self._records(asset))
        return self._built[asset]
