"""Extrapolates from samples: a line through a small and several larger samples, and the scatter of the latter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

QUANTILES: Final = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365}
"""Student's t at 97.5 % by degrees of freedom: an interval of 95 %."""

_MIDDLE: Final = 0.5
_SPREAD: Final = 0.1
"""Growth of the share of duplicates, as a power of the sampled share, before anything is known; and its variance."""

_STEPS: Final = 60


@dataclass(frozen=True)
class Point:
    """The result of a sample. size: of the sample, such as bytes of text. value: a count, seconds or bytes."""

    size: float
    value: float


@dataclass(frozen=True)
class Guess:
    """An extrapolated value. fixed: the part of it that does not grow with the corpus. blocks: what each block says."""

    value: float = 0.0
    fixed: float = 0.0
    blocks: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        """Half an interval of 95 % for the spread between blocks, if the whole grows like the samples."""
        if len(self.blocks) < 2:
            return 0.0
        mean = sum(self.blocks) / len(self.blocks)
        variance = sum((one - mean) ** 2 for one in self.blocks) / (len(self.blocks) - 1)
        return QUANTILES.get(len(self.blocks) - 1, 2.0) * math.sqrt(variance / len(self.blocks))

    def __add__(self, other: Guess) -> Guess:
        blocks = zip_longest(self.blocks or (self.value,), other.blocks or (other.value,))
        summed = [(self.value if one is None else one) + (other.value if two is None else two) for one, two in blocks]
        constant = len(self.blocks) < 2 and len(other.blocks) < 2
        return Guess(self.value + other.value, self.fixed + other.fixed, () if constant else tuple(summed))

    def times(self, factor: float) -> Guess:
        """Returns the guess of so many times the value."""
        return Guess(self.value * factor, self.fixed * factor, tuple(one * factor for one in self.blocks))


NOTHING: Final = Guess()


def total(guesses: Iterable[Guess]) -> Guess:
    """Returns the sum of guesses; a block of each belongs to the same sample."""
    found = NOTHING
    for one in guesses:
        found = found + one if found is not NOTHING else one
    return found


def line(small: Point, blocks: Sequence[Point]) -> tuple[float, float]:
    """Returns the fixed part and the slope of the line through a small sample and the mean of larger ones.

    Neither is negative: decreasing values count as fixed, and values with a negative fixed part as slope only.
    """
    size, value = _mean(one.size for one in blocks), _mean(one.value for one in blocks)
    grown = size - small.size
    slope = max(0.0, (value - small.value) / grown) if grown > 0 else value / max(size, 1e-9)
    fixed = value - slope * size
    return (fixed, slope) if fixed >= 0 else (0.0, value / size)


def extrapolated(small: Point, blocks: Sequence[Point], size: float, more: float = 1.0) -> Guess:
    """Returns what a sample of another size gives. more: how many times as many partitions it has as the samples."""
    fixed, slope = line(small, blocks)
    value = fixed * more + slope * size
    stretched = size / max(_mean(one.size for one in blocks), 1e-9)
    scattered = tuple(value + (one.value - fixed - slope * one.size) * stretched for one in blocks)
    return Guess(value, fixed * more, scattered)


def in_proportion(blocks: Sequence[Point], size: float) -> Guess:
    """Returns what a sample of another size gives if everything grows with it."""
    rate = sum(one.value for one in blocks) / max(sum(one.size for one in blocks), 1e-9)
    return Guess(rate * size, 0.0, tuple(one.value / max(one.size, 1e-9) * size for one in blocks))


@dataclass(frozen=True)
class Duplicates:
    """Share of the documents that are dropped as duplicates. A sample finds fewer of them than the whole has.

    found: in the larger samples. expected: in the whole, if the growth between samples goes on. least: as in the
    samples, if each document had very many copies. most: if each had one, which is rarely in the same sample.
    """

    found: float
    expected: float
    least: float
    most: float


@dataclass(frozen=True)
class Found:
    """Duplicates in samples. part: sampled share of the rows. documents: all of the samples. dropped: of them."""

    part: float
    documents: int
    dropped: int

    @property
    def share(self) -> float:
        """Share of the documents that are dropped."""
        return self.dropped / max(1, self.documents)


def duplicates(small: Found, large: Found) -> Duplicates:
    """Returns the share of duplicates of the whole, from those of small and of larger samples.

    Among texts in pairs, the share grows with the sampled share; of very many copies of few texts it does not grow.
    So the growth between the samples says how many copies there are. It counts as much as the numbers allow; without
    any, the share is taken to be in the middle of its bounds.
    """
    found = large.share
    if not found or large.part >= 1:
        return Duplicates(found, found, found, found)
    most = min(1.0, found / large.part)
    expected = math.log(found * large.part**-_MIDDLE)
    if small.dropped and large.part > small.part:
        copies = _copies(small.part, large.part, found / small.share)
        said = math.log(found * _repeated(1.0, copies) / _repeated(large.part, copies))
        spread = (1 / small.dropped + 1 / large.dropped) / math.log(large.part / small.part) ** 2
        expected += (said - expected) * _SPREAD / (_SPREAD + spread)
    return Duplicates(found, min(most, math.exp(expected)), found, most)


def _repeated(part: float, copies: float) -> float:
    """Returns the share of the documents of a sample that are later copies, if every text is there so many times."""
    return 1 + math.expm1(copies * math.log1p(-part)) / (copies * part) if part < 1 else 1 - 1 / copies


def _copies(small: float, large: float, grown: float) -> float:
    """Returns how many times each text is there if the share of copies is `grown` times as large in a larger sample."""
    least, most = math.log(2), math.log(1e9)
    for _ in range(_STEPS):
        middle = (least + most) / 2
        copies = math.exp(middle)
        if _repeated(large, copies) / _repeated(small, copies) > grown:
            least = middle
        else:
            most = middle
    return math.exp(least)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
