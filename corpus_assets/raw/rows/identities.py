"""Ids that several documents or examples of a source share, although source and id should identify them."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import xxhash

from corpus_assets.raw.rows.seen import DERIVED_IDS
from resources.stage.partition import Partition
from resources.stage.task import Task

REPEATED: Final = "repeated_ids"
"""Statistic: number of rows with the id of an earlier row of the file, and the most frequent id with its count."""

SMALLEST: Final = "smallest_ids"
"""Statistic: the ids with the smallest hashes, by hash. They are equal in files with the same ids."""

_KEPT: Final = 8
_SHOWN: Final = 60
_NOTED: Final = 1000
"""Number of first documents of the file whose ids are kept, to show a repeated one."""


class Identities:
    """Notes the ids of one file; eight bytes each."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._first: list[str] = []
        self._smallest: dict[int, str] = {}
        self._limit = 1 << 64

    def add(self, identifier: str) -> None:
        """Notes an id."""
        hashed = xxhash.xxh3_64_intdigest(identifier.encode("utf-8", "surrogatepass"))
        self._hashes.append(hashed)
        if len(self._first) < _NOTED:
            self._first.append(identifier[:_SHOWN])
        if hashed < self._limit and hashed not in self._smallest:
            self._smallest[hashed] = identifier[:_SHOWN]
            if len(self._smallest) > _KEPT:
                del self._smallest[max(self._smallest)]
                self._limit = max(self._smallest)

    def count(self, task: Task) -> None:
        """Records the statistics; none for a file whose ids are all derived from its name, since these are unique."""
        if task.statistics.get(DERIVED_IDS, 0) >= len(self._hashes):
            return
        task.count(**{SMALLEST: {f"{hashed:016x}": shown for hashed, shown in sorted(self._smallest.items())}})
        _, firsts, counts = np.unique(np.frombuffer(self._hashes, np.uint64), return_index=True, return_counts=True)
        if repeated := len(self._hashes) - len(counts):
            most = int(np.argmax(counts))
            shown = self._first[firsts[most]] if firsts[most] < len(self._first) else None
            task.count(**{REPEATED: {"documents": repeated, "most": int(counts[most]), "id": shown}})


def repeated_notes(partitions: Iterable[Partition], what: str) -> Iterator[str]:
    """Yields a sentence for each source in which several documents share an id. what: `source`, or `dataset`."""
    held: dict[str, list[dict[str, Any]]] = {}
    for partition in partitions:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        held.setdefault(partition.shard.source, []).append(dict(partition.record.statistics))
    for source, records in held.items():
        rows = sum(numbers.get("rows_out", 0) for numbers in records)
        inside = [numbers[REPEATED] for numbers in records if REPEATED in numbers]
        if inside:
            worst = max(inside, key=lambda one: int(one["most"]))
            shown = f"; {worst['id']!r} is that of {worst['most']:,}" if worst["id"] is not None else ""
            count = sum(one["documents"] for one in inside)
            said = f"{count:,} of {rows:,} rows have the id of an earlier one in a file{shown}"
            yield f"{what} {source}: {said} {_HINT}"
        among = Counter(hashed for numbers in records for hashed in numbers.get(SMALLEST, {}))
        if shared := [hashed for hashed, files in among.items() if files > 1]:
            names = {hashed: name for numbers in records for hashed, name in numbers.get(SMALLEST, {}).items()}
            first = min(shared)
            files = f"{names[first]!r} is in {among[first]:,} of them"
            yield f"{what} {source}: ids repeat between its files; {files} {_HINT}"


_HINT: Final = "(they are told apart by source and id; is `id_key` right?)"
