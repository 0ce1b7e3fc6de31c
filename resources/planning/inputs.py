"""What partitions read: the content digests of their inputs, from the records that are known at the moment."""

from collections.abc import Callable, Mapping

from resources.records import Record, absent_segment, folded, partition_name
from resources.stage.declaration import Input, Reads, Stage

Key = str | None


class Inputs:
    """Looks up digests of inputs; those of edges that read the same for all keys are kept, until `forget`.

    keys_read: the upstream keys that an edge reads for a key. records: the records of an asset, by key.
    """

    def __init__(
        self, keys_read: Callable[[Input, Key], list[Key]], records: Callable[[str], Mapping[Key, Record]]
    ) -> None:
        self._keys_read = keys_read
        self._records = records
        self._of_all: dict[tuple[str, str, str | None, bool], dict[str, str]] = {}
        self._absent_in_all: dict[tuple[str, str | None], str] = {}
        self._names: dict[tuple[str, str], list[str]] = {}

    def of(self, stage: Stage, key: Key) -> dict[str, str]:
        """Returns the content digests of the tracked inputs of a partition that exist, by `asset/partition`."""
        found: dict[str, str] = {}
        for edge in stage.inputs:
            if edge.tracked:
                found |= self._of_edge(edge, key)
        return found

    def _of_edge(self, edge: Input, key: Key) -> dict[str, str]:
        segment = edge.segment_read(key)
        if edge.mapping is Reads.SAME or (edge.mapping is Reads.OWN_SEGMENT and not edge.folded):
            return self._digests(edge, key, segment)  # Nobody else reads the same.
        kind = (edge.asset, edge.name_in_recipe, segment, edge.folded)
        if kind not in self._of_all:
            digests = self._digests(edge, key, segment)
            self._of_all[kind] = folded(edge.name_in_recipe, digests) if edge.folded else digests
        return self._of_all[kind]

    def _digests(self, edge: Input, key: Key, segment: str | None) -> dict[str, str]:
        records, nothing, keys = self._records(edge.asset), edge.nothing, self._keys_read(edge, key)
        if edge.mapping is Reads.SAME:
            names = [partition_name(edge.name_in_recipe, upstream) for upstream in keys]
        else:
            names = self._names_of_all(edge, keys)
        found = {}
        for name, upstream in zip(names, keys, strict=True):
            record = records.get(upstream)
            if record is not None and (digest := record.digest_of(segment)) != nothing:
                found[name] = digest
        return found

    def _names_of_all(self, edge: Input, keys: list[Key]) -> list[str]:
        # They are in the recipes of all bands, ranges and chunks.
        known = edge.asset, edge.name_in_recipe
        if known not in self._names:
            self._names[known] = [partition_name(edge.name_in_recipe, key) for key in keys]
        return self._names[known]

    def absent_segment(self, stage: Stage, key: Key) -> str:
        """Returns in words which segment that a partition reads does not exist; empty if all do.

        Its digest would be the same for ever, so nothing that changes would make the partition stale.
        """
        for edge in stage.inputs:
            if edge.tracked and edge.segment is not None and (absent := self._absent(edge, key)):
                return absent
        return ""

    def _absent(self, edge: Input, key: Key) -> str:
        if edge.mapping is Reads.SAME:
            return self._first_absent(edge, key)
        if (edge.asset, edge.segment) not in self._absent_in_all:
            self._absent_in_all[edge.asset, edge.segment] = self._first_absent(edge, key)
        return self._absent_in_all[edge.asset, edge.segment]

    def _first_absent(self, edge: Input, key: Key) -> str:
        records = self._records(edge.asset)
        for upstream in self._keys_read(edge, key):
            if upstream in records and (absent := absent_segment(records[upstream], edge.segment)):
                return absent
        return ""

    def forget(self, asset: str) -> None:
        """Takes into account that a record of an asset was written or removed."""
        for kind in [kind for kind in self._of_all if kind[0] == asset]:
            del self._of_all[kind]
        for name in [name for name in self._absent_in_all if name[0] == asset]:
            del self._absent_in_all[name]
