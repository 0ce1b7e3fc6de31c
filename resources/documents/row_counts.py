"""Numbers of rows for commit records: by source, and by size. Those of several partitions are added one by one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.formats.row_tables import RowTable

_FEW = 64
_ODD = np.uint64(0x9E3779B97F4A7C15)

Chosen = NDArray[np.bool_]


class SourcesOfRows:
    """The sources of the rows of a table. Each row has the number of its source, so that counting is one pass."""

    def __init__(self, rows: RowTable) -> None:
        self._bytes = rows["bytes"]
        names, self._numbers = _numbered(rows["source"])
        self._names = [name.decode() for name in names]

    def counts(self, chosen: Chosen | None = None) -> dict[str, int]:
        """Returns how many of the chosen rows each source has, in the order of names; none with 0."""
        numbers = self._numbers if chosen is None else self._numbers[chosen]
        return self._named(np.bincount(numbers, minlength=len(self._names)))

    def documents(self, chosen: Chosen | None = None) -> dict[str, dict[str, int]]:
        """Returns documents and UTF-8 bytes of text of the chosen rows, by source."""
        numbers, sizes = self._numbers, self._bytes
        if chosen is not None:
            numbers, sizes = numbers[chosen], sizes[chosen]
        # The sums are doubles: exact up to 2^53 bytes, far more than a partition holds.
        found = np.bincount(numbers, weights=sizes, minlength=len(self._names)).astype(np.int64).tolist()
        size_of = dict(zip(self._names, found, strict=True))
        return {name: {"documents": count, "text_bytes": size_of[name]} for name, count in self.counts(chosen).items()}

    def _named(self, counts: NDArray[np.int64]) -> dict[str, int]:
        return {name: count for name, count in sorted(zip(self._names, counts.tolist(), strict=True)) if count}


def _numbered(column: NDArray[np.bytes_]) -> tuple[list[bytes], NDArray[np.intp]]:
    """Returns the different values of a column, and the number of each row's value among them.

    Names are compared by a sum of their words first: sorting names themselves takes many times as long.
    """
    words = np.ascontiguousarray(column).view(np.uint64).reshape(len(column), column.itemsize // 8)
    hashed = words @ (_ODD ** np.arange(1, words.shape[1] + 1, dtype=np.uint64))
    numbers, firsts, left = np.zeros(len(column), np.intp), list[int](), np.arange(len(column))
    while left.size and len(firsts) < _FEW:
        same = hashed[left] == hashed[left[0]]
        numbers[left[same]] = len(firsts)
        firsts.append(int(left[0]))
        left = left[~same]
    if left.size or not np.array_equal(words[firsts][numbers], words):
        names, numbers = np.unique(column, return_inverse=True)
        return names.tolist(), numbers
    return column[firsts].tolist(), numbers


def by_power(sizes: NDArray[Any] | Sequence[int]) -> list[int]:
    """Returns a histogram of sizes by powers of two: entry 0 counts zeros, entry k those of 2^(k-1) to 2^k - 1."""
    found: list[int] = np.bincount(np.frexp(np.asarray(sizes, np.float64))[1]).tolist()
    return found


def counted_by_power(counts: Mapping[int, int]) -> list[int]:
    """Returns the same histogram of sizes that are counted already."""
    powers = Counter[int]()
    for size, count in counts.items():
        powers[size.bit_length()] += count
    return dense(powers)


def dense(powers: Mapping[int, int]) -> list[int]:
    """Returns a histogram as a list, given its nonzero entries by position."""
    return [powers.get(power, 0) for power in range(max(powers, default=-1) + 1)]


def added(histograms: Iterable[Sequence[int]]) -> list[int]:
    """Returns the sum of histograms by powers of two, entry by entry; a shorter one has zeros at its end."""
    total: list[int] = []
    for one in histograms:
        total = [mine + theirs for mine, theirs in zip_longest(total, one, fillvalue=0)]
    return total
