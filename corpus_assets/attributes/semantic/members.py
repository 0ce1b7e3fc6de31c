"""The asset `<name>_members`: the documents of a shard by range of clusters, with all that comparing them needs."""

from typing import Any, Final

import numpy as np

from corpus_assets.attributes.semantic.centers import CENTERS
from corpus_assets.attributes.semantic.integers import nearest
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.dedup.shared import save_by_range
from resources.spill import Buckets
from resources.stage.task import Task

RANGES: Final = "dedup.ranges"
_BLOCK: Final = 1 << 14


def member_row(dimensions: int) -> np.dtype[Any]:
    """Returns the type of a stored member: its cluster, its row in the shard, what `keep` compares, and its vector."""
    facts = [("cluster", "<u4"), ("row", "<u4"), ("bytes", "<u4"), ("created", "<i8")]
    return np.dtype([*facts, ("vector", "<i2", (dimensions,))])


def members(task: Task, rule: Semantic) -> None:
    """Writes the documents of a shard that have a vector, by range of their clusters."""
    found = task.input(f"{rule.name}_vectors")
    texts = task.input("normalized_documents").array(".texts.npy")
    centers = np.array(task.input(f"{rule.name}_centers").array(CENTERS))
    table, vectors = found.array(".rows.npy"), found.array(".vectors.npy")
    row = member_row(centers.shape[1])
    path = f"dedupers/{rule.name}/members/{task.shard.source}/{task.shard.name}.npy"
    with Buckets(task[RANGES], row, task.memory // 4, task.scratch) as by_range:
        for start in range(0, len(table), _BLOCK):
            some, rows = np.array(vectors[start : start + _BLOCK]), table["row"][start : start + _BLOCK]
            block = np.empty(len(some), dtype=row)
            block["row"], block["vector"] = rows, some
            block["cluster"] = nearest(some, centers) if len(centers) > 1 else 0
            for name in ("bytes", "created"):
                block[name] = texts[name][rows]
            by_range.append(block["cluster"] % task[RANGES], block)
        save_by_range(task, path, by_range, row)
    task.count(rows_in=len(table), rows_out=len(table))
