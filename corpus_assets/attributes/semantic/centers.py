"""The asset `<name>_centers`: directions around which documents are compared, by k-means over a keyed sample."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.semantic.integers import Vectors, nearest, units
from corpus_assets.attributes.semantic.vectors import DIMENSIONS, place_of
from corpus_assets.config.selection.kinds.semantic import MOST_CLUSTERS, Semantic
from resources.errors import CorpusError
from resources.stage.partitions import Partitions
from resources.stage.task import Task

CENTERS: Final = ".centers.npy"
_TOGETHER: Final = 1 << 14
"""Documents up to which all are compared with each other."""

_OF_A_CLUSTER: Final = 1 << 12
_SAMPLED: Final = 32
"""Documents of a cluster, and of these in the sample."""

_ROUNDS: Final = 8


def centers(task: Task, rule: Semantic) -> None:
    """Writes the centers (clusters, dimensions); a single one of zeros if all documents are compared together."""
    shards = task.inputs(f"{rule.name}_vectors")
    dimensions = _dimensions(shards, rule)
    total = sum(shard.file(".rows.npy").rows or 0 for shard in shards)
    count = min(rule.clusters or _clusters(total), max(total, 1))
    sampled = 0
    found: Vectors = np.zeros((1, max(dimensions, 1)), dtype=np.int16)
    if count > 1:
        sample = _sample(shards, count * _SAMPLED)
        sampled, found = len(sample), k_means(sample, count)
    task.save_array(f"dedupers/{rule.name}/{rule.name}{CENTERS}", found)
    task.count(rows_in=total, rows_out=len(found), sampled=sampled)


def _clusters(total: int) -> int:
    return 1 if total <= _TOGETHER else min(total // _OF_A_CLUSTER, MOST_CLUSTERS)


def _dimensions(shards: Partitions, rule: Semantic) -> int:
    """Returns the dimensions of all vectors; `CorpusError` if shards differ."""
    found: dict[int, str] = {}
    for shard in shards:
        if (size := shard.counters(DIMENSIONS)[DIMENSIONS]) > 0:
            found.setdefault(size, shard.name)
    if len(found) > 1:
        words = " and ".join(f"{size} in {name}" for size, name in list(found.items())[:2])
        raise CorpusError(f"{place_of(rule)}: gave vectors of {words}; valid: as many dimensions for every text")
    return next(iter(found), 0)


def _sample(shards: Partitions, most: int) -> Vectors:
    """Returns the vectors of the documents whose ids have the smallest keyed hashes, in the order of the corpus."""
    keys = np.empty(0, dtype=np.uint64)
    places = np.empty((0, 2), dtype=np.int64)
    for number, shard in enumerate(shards):
        own = np.array(shard.array(".rows.npy")["key"])
        keys = np.concatenate([keys, own])
        rows = np.arange(len(own))
        places = np.concatenate([places, np.stack([np.full(len(own), number), rows], axis=1)])
        if len(keys) > most:
            chosen = np.sort(np.argsort(keys, kind="stable")[:most])
            keys, places = keys[chosen], places[chosen]
    found = [
        shards[number].array(".vectors.npy")[places[places[:, 0] == number, 1]] for number in np.unique(places[:, 0])
    ]
    return np.concatenate(found)


def k_means(sample: Vectors, count: int) -> Vectors:
    """Returns centers (count, d) of a sample (n, d), of whole numbers like the vectors; n is at least `count`.

    Begins with vectors at even distances in the order of the corpus. A center of no vector stays where it is.
    """
    found = sample[np.arange(count) * len(sample) // count].copy()
    for _ in range(_ROUNDS):
        of = nearest(sample, found)
        sums = _sums(sample, of, count)
        moved, has_any = units(sums)
        moved[~has_any] = found[~has_any]
        if (moved == found).all():
            break
        found = moved
    return found


def _sums(sample: Vectors, of: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    order = np.argsort(of, kind="stable")
    sizes = np.bincount(of, minlength=count)
    sums = np.zeros((count, sample.shape[1]), dtype=np.int64)
    ends = np.cumsum(sizes)
    for number in np.flatnonzero(sizes).tolist():
        members = order[ends[number] - sizes[number] : ends[number]]
        sums[number] = sample[members].sum(axis=0, dtype=np.int64)
    return sums
