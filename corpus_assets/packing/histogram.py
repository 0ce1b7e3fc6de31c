"""Histograms of lengths, the input of packing methods, made from the lengths of documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from resources.errors import ConfigError

Histogram = NDArray[np.int64]
"""int64 (M,): entry i is the number of sequences of i + 1 ids; M ids are the capacity of a row."""

LongDocuments = Literal["fold", "cut", "drop"]


@dataclass(frozen=True)
class Sequences:
    """The sequences that documents become in rows of M ids.

    histogram: of the sequences.
    documents: those with an id.
    long: documents over M ids, which are divided, cut or dropped.
    truncated: ids of documents that are in no sequence.
    empty: documents without an id, which are left out.
    """

    histogram: Histogram
    documents: int
    long: int
    truncated: int
    empty: int


def sequences_of(lengths: Mapping[int, int], capacity: int, long_documents: LongDocuments = "fold") -> Sequences:
    """Returns the sequences of documents in rows of `capacity` ids.

    lengths: number of documents by their length in ids. long_documents: those over the capacity are divided into full
    sequences and a rest (`fold`), keep what fits a row (`cut`), or are dropped. ConfigError for a capacity below 1,
    ValueError for a negative number.
    """
    if capacity < 1:
        raise ConfigError(f"row length is {capacity}; valid: 1 or more")
    table = np.array(sorted(lengths.items()), np.int64).reshape(-1, 2)
    if (table < 0).any():
        raise ValueError(f"lengths hold {int(table.min())}; valid: 0 or more")
    sizes, counts = table[:, 0], table[:, 1]
    long = sizes > capacity
    short = ~long & (sizes > 0)
    histogram = np.zeros(capacity, np.int64)
    histogram[sizes[short] - 1] = counts[short]
    truncated = _add_long(histogram, sizes[long], counts[long], long_documents)
    documents, empty = int(counts[sizes > 0].sum()), int(counts[sizes == 0].sum())
    return Sequences(histogram, documents, int(counts[long].sum()), truncated, empty)


def rule_named(name: str) -> LongDocuments:
    """Returns the rule of a name; ConfigError for another one."""
    if name not in get_args(LongDocuments):
        raise ConfigError(f"rule for long documents is {name!r}; valid: {', '.join(get_args(LongDocuments))}")
    return cast(LongDocuments, name)


def _add_long(histogram: Histogram, sizes: Histogram, counts: Histogram, rule: LongDocuments) -> int:
    """Adds the sequences of documents longer than a row, and returns their ids that are in no sequence."""
    capacity = histogram.size
    if rule == "fold":
        rests = sizes % capacity
        np.add.at(histogram, rests[rests > 0] - 1, counts[rests > 0])
        histogram[-1] += int((sizes // capacity * counts).sum())
        return 0
    if rule == "cut":
        histogram[-1] += int(counts.sum())
        return int(((sizes - capacity) * counts).sum())
    return int((sizes * counts).sum())


def checked(histogram: NDArray[np.integer], depth: int | None = None) -> Histogram:
    """Returns a histogram as int64. ValueError for another shape or a negative number; ConfigError for a depth."""
    if histogram.ndim != 1 or not histogram.size or not np.issubdtype(histogram.dtype, np.integer):
        raise ValueError(f"histogram is {histogram.dtype} {histogram.shape}; valid: integers (M,)")
    if histogram.min() < 0:
        raise ValueError(f"histogram holds {histogram.min()}; valid: 0 or more")
    if depth is not None and depth < 1:
        raise ConfigError(f"packing depth is {depth}; valid: 1 or more, or none")
    return np.ascontiguousarray(histogram, np.int64)


def ids_in(histogram: Histogram) -> int:
    """Returns the ids of all sequences."""
    return int((histogram * np.arange(1, histogram.size + 1)).sum())


def longest_first(histogram: Histogram) -> Iterator[tuple[int, int]]:
    """Yields the lengths that occur, from long to short, each with its number of sequences."""
    for place in np.flatnonzero(histogram)[::-1].tolist():
        yield place + 1, int(histogram[place])
