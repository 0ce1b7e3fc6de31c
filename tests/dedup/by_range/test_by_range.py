"""Clusters found by ranges are those of the whole corpus, whatever the number of ranges and the memory."""

from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.related import BITS, Related
from benchmarks.scale_store import ID_BYTES, OF_CLUSTERS, Store
from corpus_assets.dedup.by_range.stored import alone
from corpus_assets.dedup.clusters.guard import GuardRules
from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.clusters.resolve import Pairs, Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.clusters.worst import WORST, Worst
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.documents.ranges import DocumentRanges
from corpus_assets.dedup.documents.repeated_ids import REPEATED_IDS
from resources.errors import LedgerError
from resources.ledger.ledger import Record
from resources.stage.settings import range_key

DOCUMENTS = 3_000
SIZES = {"web--a": 750, "web--b": 0, "web--c": 1_250, "books--a": 1_000}
NUMBERING = Numbering.of(SIZES.items())
RELATED = Related(DOCUMENTS)
RESEMBLANCE = 0.9
"""So much that many clusters are split."""


def pairs_of(copies: bool) -> NDArray[np.uint32]:
    found = [block for block, equal in RELATED.edges() if equal.all() == copies and len(block)]
    return np.concatenate(found).astype(np.uint32)


def sketches() -> NDArray[np.uint8]:
    return RELATED.sketches(np.arange(DOCUMENTS, dtype=np.uint64))


def stored(folder: Path, ranges: int) -> Store:
    store, held = Store(folder, NUMBERING, ranges, resemblance=RESEMBLANCE), sketches()
    for shard, first in zip(NUMBERING.shards, NUMBERING.starts, strict=False):
        store.make_shard(shard, held[first : first + SIZES[shard]])
        store.make_texts(shard, SIZES[shard], 0 if shard.startswith("web") else 1)
    cut = DocumentRanges(DOCUMENTS, ranges)
    for asset, pairs in (("exact_duplicates", pairs_of(copies=True)), ("verified_pairs", pairs_of(copies=False))):
        for number in range(ranges):
            store.make_pairs(asset, number, [pairs[cut.of(pairs[:, 0]) == number]])
    return store


def built(folder: Path, ranges: int, memory: int) -> tuple[Store, Record]:
    store = stored(folder, ranges)
    for name in OF_CLUSTERS:
        records = [store.run(name, key, memory) for key in store.keys(name)]
    return store, records[0]


def whole() -> tuple[Settled, Worst]:
    """The clusters of all documents at once."""
    sets, worst = UnionFind(DOCUMENTS), Worst()
    for copies in (True, False):
        sets.add(pairs_of(copies=copies))
    settled = Settled(sets, ["first"], {})
    held = sketches()
    guard_clusters(
        settled,
        Pairs(lambda: iter([pairs_of(copies=True)]), lambda: iter([pairs_of(copies=False)])),
        guard=GuardRules("split", resemblance=RESEMBLANCE),
        sketches=Column(Numbering.of([("", DOCUMENTS)]), lambda _: held, held[:0]),
        scale=Scale(DOCUMENTS, BITS, 1 << 20, BytesIO),
        on_finding=worst.add,
    )
    for kept, size, members in settled.largest(WORST):
        worst.add_unsuspected(kept, size, members)
    return settled, worst


@pytest.mark.parametrize(("ranges", "memory"), [(1, 1 << 24), (1, 1 << 17), (3, 1 << 17), (16, 1 << 20)])
def test_ranges_give_the_clusters_of_the_whole(tmp_path: Path, ranges: int, memory: int) -> None:
    settled, worst = whole()
    store, record = built(tmp_path, ranges, memory)
    (clusters,) = store.partitions("components")
    expected = np.concatenate([np.stack(block, axis=1) for block in settled.blocks()])
    assert np.array_equal(clusters.array("clusters.npy"), expected)
    assert record.statistics["split_clusters"] == worst.examined["split"] > 0
    assert record.statistics["documents_kept_by_splits"] == worst.moved > 0
    report = worst.report(lambda number: {"id": number, **NUMBERING.described(number)}, {})
    assert without_ids(clusters.json("report.json")["clusters"]) == without_ids(report["clusters"])


def without_ids(clusters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def bare(place: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in place.items() if key != "id"}

    return [
        row | {"kept": bare(row["kept"]), "samples": [bare(sample) for sample in row["samples"]]} for row in clusters
    ]


def test_numbers_are_those_of_the_whole(tmp_path: Path) -> None:
    settled, _ = whole()
    copies = pairs_of(copies=True)
    numbers = ClusterNumbers(NUMBERING, copies[np.argsort(copies[:, 1])])
    for block in settled.blocks():
        numbers.add(*block)
    found = built(tmp_path, 5, 1 << 18)[1].statistics
    assert numbers.statistics() == {name: found[name] for name in numbers.statistics()}
    assert sum(found["removed_exact"].values()) > 0
    assert found["duplicates"] == numbers.removed().total()


def test_ids_of_kept_documents_are_theirs(tmp_path: Path) -> None:
    store, _ = built(tmp_path, 4, 1 << 18)
    (clusters,) = store.partitions("components")
    kept, ends, ids = (clusters.array(f"kept.{name}.npy") for name in ("documents", "ends", "ids"))
    shards = store.partitions("normalized_documents")
    all_ids = np.concatenate([shard.array(".ids.npy") for shard in shards]).reshape(-1, ID_BYTES)
    assert np.array_equal(ids.reshape(-1, ID_BYTES), all_ids[kept])
    assert ends.tolist() == [ID_BYTES * (place + 1) for place in range(len(kept))]
    rows = clusters.array("clusters.npy")
    assert kept.tolist() == sorted(set(rows[:, 1].tolist()))


@pytest.mark.parametrize("memory", [1 << 16, 1 << 20])
def test_ids_that_files_share_are_counted(tmp_path: Path, memory: int) -> None:
    """The ids of both web files begin alike, those of books are of one file."""
    record = built(tmp_path, 3, memory)[1]
    assert record.statistics[REPEATED_IDS] == {"web": {"documents": 2_000, "repeated": 750}}


def test_a_document_without_others_has_no_root(tmp_path: Path) -> None:
    store, _ = built(tmp_path, 2, 1 << 20)
    (roots,) = store.partitions("cluster_roots")
    counts = Counter(roots.array(".npy").tolist())
    lonely = counts.pop(alone(NUMBERING.dtype))
    assert min(counts.values()) > 1
    assert lonely + sum(counts.values()) == DOCUMENTS


def test_other_shards_are_an_error(tmp_path: Path) -> None:
    store, _ = built(tmp_path, 2, 1 << 20)
    store.make_texts("web--b", 10, 7)
    with pytest.raises(LedgerError, match="corpus build"):
        store.run("cluster_members", range_key(0), 1 << 20)


@pytest.mark.parametrize("rows", [0, 3])
def test_a_corpus_without_clusters(tmp_path: Path, rows: int) -> None:
    numbering = Numbering.of([("web--a", rows)])
    store = Store(tmp_path, numbering, 2)
    store.make_shard("web--a", np.zeros((rows, BITS // 8), np.uint8))
    store.make_texts("web--a", rows, 0)
    for asset in ("exact_duplicates", "verified_pairs"):
        for number in range(2):
            store.make_pairs(asset, number, [])
    for name in OF_CLUSTERS:
        records = [store.run(name, key, 1 << 20) for key in store.keys(name)]
    assert records[0].statistics["rows_out"] == records[0].statistics["duplicates"] == 0
