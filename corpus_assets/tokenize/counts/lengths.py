"""The lengths of documents: their table beside the rows, and the results of packing methods for them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import DatasetSection, VSLDataset
from corpus_assets.config.datasets.options import Packed
from corpus_assets.packing.histogram import LongDocuments, sequences_of
from corpus_assets.packing.methods import CHEAP, row_of, tried
from corpus_assets.tokenize.counts.statistics import COUNTERS, Statistics
from resources.stage.partition import Partition
from resources.stage.task import Task

SUFFIX = ".lengths.npy"


def save_lengths(task: Task, stem: str, lengths: Counter[int]) -> None:
    """Writes int64 (different lengths, 2), sorted: a length in ids, and how many documents have it.

    stem: path of the table without its suffix. It follows from the input of the rows, so it is derived.
    """
    table: NDArray[np.int64] = np.array(sorted(lengths.items()), np.int64).reshape(-1, 2)
    task.save_array(stem + SUFFIX, table, derived=True)


def saved_lengths(partition: Partition) -> Counter[int] | None:
    """Returns the lengths of the documents of a partition; None if its mode measures none.

    A partition that has seen no document has no table.
    """
    if partition.has(SUFFIX):
        return Counter(dict(partition.array(SUFFIX).tolist()))
    return None if Statistics.from_dict(partition.counters(COUNTERS)).processed_files else Counter()


def packing_table(partitions: Iterable[Partition], section: DatasetSection) -> list[dict[str, Any]]:
    """Returns the fill of rows by each cheap method of packing, as rows of a table; none if a partition has no lengths.

    For people: the rows of the dataset themselves are packed as it says, partition by partition (docs/packing.md).
    """
    total = Counter[int]()
    for partition in partitions:
        lengths = saved_lengths(partition)
        if lengths is None:
            return []
        total.update(lengths)
    found = sequences_of(total, section.sequence_length, long_rule(section))
    return [row_of(method, found.truncated) for method in tried(found.histogram, CHEAP, depth_of(section))]


def long_rule(section: DatasetSection) -> LongDocuments:
    """Returns how the dataset treats documents longer than a row."""
    return section.long_documents if isinstance(section, VSLDataset) else "fold"


def depth_of(section: DatasetSection) -> int | None:
    """Returns the most sequences that rows of the dataset may hold."""
    return section.packing_depth if isinstance(section, Packed) else None
