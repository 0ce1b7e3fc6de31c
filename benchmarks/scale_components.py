"""`components` at the size of a whole corpus, step by step as the asset does it, with the CPU seconds of each step."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.related import BITS
from benchmarks.scale_run import THRESHOLD, Array, Run
from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.clusters.guard import GuardRules
from corpus_assets.dedup.clusters.kept_ids import ids_of
from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.clusters.resolve import Pairs, Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.clusters.worst import WORST, Worst, losses
from corpus_assets.dedup.documents.numbering import ShardMarks, removal_rows
from corpus_assets.dedup.documents.places import Places
from corpus_assets.dedup.similarity.check import surely_above
from resources.formats.row_tables import TEXT

RULES: tuple[Rule, ...] = ("first",)
"""The default, which compares no facts of documents."""

GUARD = GuardRules("split", resemblance=surely_above(THRESHOLD, BITS), paired=True)
_ID_BYTES = 36


class Steps:
    """CPU seconds of the steps of a stage, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what runs inside."""
        started = time.process_time()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.process_time() - started, 2)


def make_texts(run: Run) -> dict[str, int]:
    """Not a stage: the ids of all documents, the tables of their texts and the lists of short ones."""
    return run.each(_make_texts, len(run.numbering.shards))


def _make_texts(run: Run, number: int) -> dict[str, int]:
    shard, (first, stop) = run.numbering.shards[number], run.numbering.starts[number : number + 2]
    count = stop - first
    table = np.zeros(count, TEXT)
    table["id_end"] = np.arange(1, count + 1) * _ID_BYTES
    digits = np.random.default_rng(first).integers(ord("0"), ord("9") + 1, count * _ID_BYTES, dtype=np.uint8)
    for name, array in {"texts": table, "ids": digits, "short": np.zeros(count, dtype=np.bool_)}.items():
        run.save(f"{shard}.{name}", array)
    return {"ids": count}


def components(run: Run) -> dict[str, Any]:
    """Clusters, of which the first document is kept, after the suspicious ones are examined; ids and numbers."""
    steps, worst = Steps(), Worst()
    forest = UnionFind(run.numbering.total)
    with steps.step("union-find"):
        for block in run.pairs():
            forest.add(block)
    with steps.step("document to keep"):
        settled = Settled(forest, RULES, {})
    with steps.step("guard"):
        _guard(run, settled, worst)
    with steps.step("largest clusters"):
        for kept, size, members in settled.largest(WORST):
            worst.add_unsuspected(kept, size, members)
    with steps.step("ids of the kept"):
        kept_documents = settled.kept_for_others()
        hashes = _write_ids(run, kept_documents)
    with steps.step("clusters and numbers"):
        found = _write_clusters(run, settled, kept_documents, hashes)
    with steps.step("report"):
        _report(run, worst, found.pop("removed"))
    return {**found, "suspicious": sum(worst.examined.values()), "steps": steps.seconds}


def _guard(run: Run, settled: Settled, worst: Worst) -> None:
    guard_clusters(
        settled,
        Pairs(partial(run.blocks_of, "exact"), partial(run.blocks_of, "verified")),
        guard=GUARD,
        sketches=run.sketches(),
        scale=Scale(run.numbering.total, BITS, run.memory, run.spill),
        on_finding=worst.add,
    )


def _id_tables(run: Run, position: int) -> tuple[Array, Array]:
    shard = run.numbering.shards[position]
    return run.load(f"{shard}.texts")["id_end"], run.load(f"{shard}.ids")


def _write_ids(run: Run, kept: Array) -> Array:
    """Store the ids of documents; a hash of each."""
    hashes, end = [np.empty(0, np.uint64)], 0
    with run.array("kept.ends", np.uint64) as ends, run.array("kept.ids", np.uint8) as characters:
        for _, ids, hashed in ids_of(run.numbering, kept, partial(_id_tables, run)):
            ends.append(np.cumsum([len(found) for found in ids], dtype=np.uint64) + np.uint64(end))
            characters.append(np.frombuffer(b"".join(ids), dtype=np.uint8))
            hashes.append(hashed)
            end += sum(map(len, ids))
    run.save("kept.documents", kept)
    return np.concatenate(hashes)


def _write_clusters(run: Run, settled: Settled, kept_documents: Array, hashes: Array) -> dict[str, Any]:
    """Store every member of a cluster, and count what the asset counts."""
    exact = np.concatenate([np.empty((0, 2), run.numbering.dtype), *run.blocks_of("exact")])
    numbers = ClusterNumbers(run.numbering, exact[np.argsort(exact[:, 1])])
    marks, removed = ShardMarks(run.numbering), Counter[str]()
    places = Places(kept_documents, run.numbering.total)

    def rows() -> Iterator[Array]:
        for members, kept, sizes in settled.blocks():
            gone = members != kept
            numbers.add(members, kept, sizes)
            ids = hashes[places.of(kept[gone])]
            marks.add(members[gone], removal_rows(run.numbering, members[gone], kept[gone], sizes[gone], ids))
            removed.update(run.numbering.by_source(members[gone]))
            yield np.stack([members, kept, sizes], axis=1)

    members = run.write("clusters", rows(), columns=3)
    pairs = numbers.statistics()["who_duplicates_whom"].values()
    assert removed.total() == sum(sum(counts.values()) for counts in pairs)
    return {"members": members, "shards": len(marks.digests()), "removed": removed}


def _report(run: Run, worst: Worst, removed: Counter[str]) -> None:
    """Losses by source, and the worst clusters with the ids of their documents."""
    taking_part = (int((~run.load(f"{shard}.short")).sum()) for shard in run.numbering.shards)
    sources = losses(removed, run.numbering.by_source_of_shard(taking_part))
    wanted = np.array(worst.documents(), dtype=run.numbering.dtype)
    names = dict[int, str]()
    for block, ids, _ in ids_of(run.numbering, wanted, partial(_id_tables, run)):
        names |= {number: str(name, "utf-8") for number, name in zip(block.tolist(), ids, strict=True)}
    report = worst.report(lambda number: {"id": names[number], **run.numbering.described(number)}, sources)
    assert len(report["clusters"]) <= WORST
