"""From pairs to clusters at the size of a whole corpus: the stages of a build, and what they read."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.scale_run import Array, Run


def make_texts(run: Run) -> dict[str, int]:
    """Not a stage: ids, tables of texts and short documents of all shards; the pairs as a build stores them."""
    for name, asset in (("exact", "exact_duplicates"), ("verified", "verified_pairs")):
        for number in range(run.ranges.count):
            run.store.make_pairs(asset, number, run.blocks(f"{name}-{number:03}"))
    return run.each(_make_texts, len(run.numbering.shards))


def _make_texts(run: Run, number: int) -> dict[str, int]:
    shard, (first, stop) = run.numbering.shards[number], run.numbering.starts[number : number + 2]
    run.store.make_texts(shard, stop - first, first)
    return {"ids": stop - first}


def make_sketches(run: Run) -> dict[str, int]:
    """Not a stage: the sketches of all documents."""
    return run.each(_make_sketches, len(run.numbering.shards))


def _make_sketches(run: Run, number: int) -> dict[str, int]:
    first, stop = run.numbering.starts[number : number + 2]
    run.store.make_shard(run.numbering.shards[number], run.related.sketches(np.arange(first, stop, dtype=np.uint64)))
    return {"documents": stop - first}


def make_edges(run: Run) -> dict[str, int]:
    """Not a stage: the pairs that the stages before would find, by the range of the first document.

    Of each close cluster the first copy with every later one; then every document with the first of the cluster, and
    with the one before it. Loose clusters have none.
    """
    exact: list[list[Array]] = [[] for _ in range(run.ranges.count)]
    similar: list[list[Array]] = [[] for _ in range(run.ranges.count)]
    for edges, copies in run.related.edges():
        pairs = edges.astype(run.numbering.dtype)
        for to, some in ((exact, pairs[copies]), (similar, pairs[~copies])):
            order = np.argsort(some[:, 0], kind="stable")
            numbers = run.ranges.of(some[order, 0])
            for number in np.unique(numbers).tolist():
                to[int(number)].append(some[order][numbers == number])
    nothing = np.empty((0, 2), run.numbering.dtype)
    for name, ranges in (("exact", exact), ("verified", similar)):
        for number, blocks in enumerate(ranges):
            run.save(f"{name}-{number:03}", np.concatenate([nothing, *blocks]))
    return {"pairs": sum(len(block) for blocks in similar for block in blocks)}


def clusters(name: str, run: Run) -> dict[str, Any]:
    """One of the stages that find clusters, by as many workers as it has partitions for."""
    keys = run.store.keys(name)
    if keys == [None]:
        return _counted(run.store.run(name, None, run.memory * run.workers).statistics)
    return run.each(partial(_partition, name), len(keys))


def _partition(name: str, run: Run, number: int) -> dict[str, int]:
    return _counted(run.store.run(name, run.store.keys(name)[number], run.memory).statistics)


def _counted(statistics: Any) -> dict[str, int]:
    return {"members": statistics["rows_out"]}
