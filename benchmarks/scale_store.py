"""The stages of clusters of the scale benchmark: the stages of a build, on partitions as a build stores them.

They read and write through their `Task`, so what they cost includes the digests of all that they read and write.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from benchmarks.related import BITS, PERMUTATIONS
from corpus_assets.dedup.assets import dedup_stages
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.shared import ORDER, PAIR_THRESHOLD, SHORT, save_numbering
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Sketched
from resources.formats.row_tables import TEXT
from resources.ledger.ledger import Record
from resources.stage.declaration import Partitioning, Reads
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.settings import range_key
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

THRESHOLD: Final = 0.8
ID_BYTES: Final = 36
OF_CLUSTERS: Final = ("cluster_roots", "cluster_members", "guarded_clusters", "components")
"""The stages from pairs to clusters, in their order."""

_STAGES = {stage.name: stage for stage in dedup_stages("similar")}


class Store:
    """Partitions in a folder, each with a record that says what is in its files.

    resemblance: `dedup.guard.resemblance`.
    """

    def __init__(self, folder: Path, numbering: Numbering, ranges: int, *, resemblance: float | None = None) -> None:
        self._resemblance = resemblance
        self._records, self._numbering, self._ranges = folder / "records", numbering, ranges
        self._storage = LocalStorage(folder, sync=False)

    def make(self, asset: str, key: str, write: Callable[[Task], None]) -> None:
        """A partition that a function writes."""
        self._commit(Task(Given(asset, key, self._storage, {})), asset, key, write)

    def run(self, name: str, key: str | None, memory: int) -> Record:
        """Compute a partition of a stage."""
        stage = _STAGES[name]
        inputs = {edge.asset: self.partitions(edge.asset) for edge in stage.inputs}
        for edge in stage.inputs:
            if edge.mapping is Reads.SAME:
                inputs[edge.asset] = Partitions(one for one in inputs[edge.asset] if one.key == key)
        given = Given(name, key, self._storage, inputs, parameters=self._parameters(), memory=memory)
        return self._commit(Task(given), name, key or "_", stage.compute)

    def keys(self, name: str) -> list[str | None]:
        """The keys of a stage's partitions."""
        ranged = _STAGES[name].partitioning is Partitioning.RANGE
        return [range_key(number) for number in range(self._ranges)] if ranged else [None]

    def partitions(self, asset: str) -> Partitions:
        """All partitions of an asset, shards in the order of their numbers."""
        files = {path.stem: path for path in sorted((self._records / asset).glob("*.json"))}
        found = [files[shard] for shard in self._numbering.shards if shard in files] or list(files.values())
        records = (msgspec.json.decode(path.read_bytes(), type=Record) for path in found)
        return Partitions(Partition(self._storage, record) for record in records)

    def make_shard(self, shard: str, sketches: Any) -> None:
        """The sketches of a shard."""
        scheme = Sketched(SignatureScheme(permutations=PERMUTATIONS), BITS).described()

        def write(task: Task) -> None:
            task.save_array(f"minhashes/{shard}.sketch.npy", sketches)
            task.save_json(f"minhashes/{shard}.scheme.json", scheme, rows=1)

        self.make("minhashes", shard, write)

    def make_texts(self, shard: str, rows: int, seed: int) -> None:
        """Ids of a shard's documents, the table of their texts, and the list of short ones."""
        table = np.zeros(rows, TEXT)
        table["id_end"] = np.arange(1, rows + 1) * ID_BYTES
        digits = np.random.default_rng(seed).integers(ord("0"), ord("9") + 1, rows * ID_BYTES, dtype=np.uint8)

        def write(task: Task) -> None:
            task.save_array(f"normalized_documents/{shard}.texts.npy", table)
            task.save_array(f"normalized_documents/{shard}.ids.npy", digits)

        self.make("normalized_documents", shard, write)

        def write_short(task: Task) -> None:
            task.save_array(f"short_documents/{shard}{SHORT}", np.zeros(rows, np.bool_))

        self.make("short_documents", shard, write_short)

    def make_pairs(self, asset: str, number: int, blocks: Iterable[Any]) -> None:
        """The pairs of a range."""
        path = f"{asset}/{range_key(number)}"

        def write(task: Task) -> None:
            with task.array(f"{path}.npy", self._numbering.dtype, (2,)) as out:
                for block in blocks:
                    out.append(block)
            save_numbering(task, f"{path}.shards.json", self._numbering)

        self.make(asset, range_key(number), write)

    def _parameters(self) -> dict[str, Any]:
        """What the stages depend on, by default; no texts are compared."""
        guard = {"action": "split", "max_cluster": 10_000, "resemblance": self._resemblance, "max_examined": 500_000}
        return {
            "dedup.keep": ["first"],
            "dedup.priority": [],
            "dedup.short_documents": "exclude",
            "dedup.ranges": self._ranges,
            **{f"dedup.guard.{name}": value for name, value in guard.items()},
            ORDER: list(dict.fromkeys(self._numbering.sources)),
            PAIR_THRESHOLD: THRESHOLD,
        }

    def _commit(self, task: Task, asset: str, key: str, write: Callable[[Task], Any]) -> Record:
        write(task)
        task.prepare()
        task.publish()
        record = Record(
            asset=asset,
            partition=None if key == "_" else key,
            recipe="",
            digest=task.content_digest(),
            inputs={},
            parameters={},
            code_version="1",
            files=[task.stored(file) for file in task.files],
            segments=task.segments,
            counters=task.counters,
            statistics=task.statistics,
        )
        task.close()
        folder = self._records / asset
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{key}.json").write_bytes(msgspec.json.encode(record))
        return record
