"""The content digests of the inputs of partitions, from the records that are known at the moment."""

from collections.abc import Callable, Mapping
from typing import Any

from resources.ledger.records import Record, absent_segment, digests_of, folded, partition_name
from resources.stage.declaration import Input, Reads, Stage

Key = str | None


class Inputs:
    """Looks up digests of inputs. Those of edges that read the same for all keys are kept until `forget`.

    keys_read: the upstream keys that an edge reads for a key. records: the records of an asset, by key.
    """

    def __init__(
        self, keys_read: Callable[[Input, Key], list[Key]], records: Callable[[str], Mapping[Key, Record]]
    ) -> None:
        self._keys_read = keys_read
        self._records = records
        self._of_all: dict[tuple[str, str, str | None, bool, bool], dict[str, str]] = {}
        self._absent_in_all: dict[tuple[str, str | None], str] = {}
        self._all_read: dict[tuple[str, str, bool], tuple[list[str], list[Record]]] = {}

    def of(self, stage: Stage, key: Key) -> dict[str, str]:
        """Returns the content digests of the tracked inputs of a partition that exist, by `asset/partition`."""
        found: dict[str, str] = {}
        for edge in stage.inputs:
            if not edge.tracked:
                continue
            keys = self._keys_read(edge, key)
            if edge.folded or len(keys) != 1:
                found |= self._of_many(edge, key)
                continue
            record = self._records(edge.asset).get(keys[0])
            if record is not None and (digest := record.digest_of(edge.segment_read(key))) != edge.nothing:
                found[partition_name(edge.name_in_recipe, keys[0])] = digest
        return found

    def _of_many(self, edge: Input, key: Key) -> dict[str, str]:
        segment = edge.segment_read(key)
        if edge.mapping is Reads.OWN_SEGMENT and not edge.folded:
            return self._digests(edge, key, segment)  # No other partition reads the same.
        kind = (edge.asset, edge.name_in_recipe, segment, edge.folded, edge.by_path)
        if kind not in self._of_all:
            digests = self._digests(edge, key, segment)
            self._of_all[kind] = folded(edge.name_in_recipe, digests) if edge.folded else digests
        return self._of_all[kind]

    def _digests(self, edge: Input, key: Key, segment: str | None) -> dict[str, str]:
        names, records = self._all(edge, key)
        found = dict(zip(names, digests_of(records, segment), strict=True))
        if edge.nothing is not None:
            found = {name: digest for name, digest in found.items() if digest != edge.nothing}
        return found

    def _all(self, edge: Input, key: Key) -> tuple[list[str], list[Record]]:
        """Returns the upstream partitions that an edge reads, and their names in recipes.

        Bands, ranges and chunks read them again and again.
        """
        asset = edge.name_in_recipe
        known = edge.asset, asset, edge.by_path
        if known not in self._all_read:
            records = self._records(edge.asset)
            keys = [one for one in self._keys_read(edge, key) if one in records]
            self._all_read[known] = [partition_name(asset, one) for one in keys], [records[one] for one in keys]
        return self._all_read[known]

    def absent_segment(self, stage: Stage, key: Key) -> str:
        """Returns in words which segment that a partition reads does not exist; empty if all do.

        The digest of an absent segment never changes, so nothing would ever make the partition stale.
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
            record = records.get(upstream)
            if record is not None and edge.segment not in record.segments:
                return absent_segment(record, edge.segment)
        return ""

    def forget(self, asset: str) -> None:
        """Forgets kept digests after a record of the asset was written or removed."""
        every: tuple[dict[Any, Any], ...] = (self._of_all, self._absent_in_all, self._all_read)
        for kept in every:
            for name in [name for name in kept if name[0] == asset]:
                del kept[name]
