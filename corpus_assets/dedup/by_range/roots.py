"""The asset `cluster_roots`: for every document the first one of its cluster. Only this step looks at all pairs."""

from itertools import chain

import numpy as np

from corpus_assets.dedup.by_range.stored import alone
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.shared import (
    blocks_of,
    ranges_of,
    require_numbering,
    save_numbering,
    save_starts,
    stored_numbering,
)
from resources.hashing import sized_hasher
from resources.stage.settings import range_key
from resources.stage.task import Task


def cluster_roots(task: Task) -> None:
    """Joins the pairs into clusters (union-find); writes the first document of each one's cluster, by range."""
    paired = [*task.inputs("exact_duplicates"), *task.inputs("verified_pairs")]
    numbering = stored_numbering(paired[0])
    require_numbering(numbering, paired, ".shards.json")
    sets, pairs = UnionFind(numbering.total), 0
    for block in chain.from_iterable(blocks_of(found.array(".npy")) for found in paired):
        sets.add(block)
        pairs += len(block)
    ranges, roots = ranges_of(task, numbering), sets.all_roots(alone(numbering.dtype))
    members, starts = 0, [0]
    with task.array("cluster_roots/roots.npy", numbering.dtype) as out:
        for number in range(ranges.count):
            start, stop = ranges.span(number)
            hasher = sized_hasher((stop - start) * numbering.dtype.itemsize)
            for block in blocks_of(roots[start:stop]):
                out.append(block)
                hasher.update(block.tobytes())
                members += int(np.count_nonzero(block != alone(numbering.dtype)))
            task.segments[range_key(number)] = hasher.hexdigest()
            starts.append(stop)
    save_starts(task, starts)
    save_numbering(task, "cluster_roots/shards.json", numbering)
    task.count(rows_in=pairs, rows_out=numbering.total, members=members)
