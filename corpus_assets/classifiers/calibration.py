"""How the log-odds of a classifier become probabilities, fitted on examples that it was not trained on.

Sources: Platt 1999, with the targets and the Newton steps of Lin, Lin and Weng 2007; isotonic regression by pooling
adjacent violators (Zadrozny and Elkan 2002).
"""

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
_STEPS = 100
_NEAR = 1e-10


class Calibration(msgspec.Struct, frozen=True):
    """A function from log-odds to probabilities that never decreases.

    Platt: `slope` and `offset` of a logistic function. Isotonic: the probability at each of some log-odds, ascending,
    and on the line between two of them.
    """

    kind: Literal["platt", "isotonic"]
    slope: float = 1.0
    offset: float = 0.0
    at: tuple[float, ...] = ()
    is_: tuple[float, ...] = msgspec.field(default=(), name="is")

    def __post_init__(self) -> None:
        numbers = (self.slope, self.offset, *self.at, *self.is_)
        ordered = all(np.diff(self.at) > 0) and all(np.diff(self.is_) >= 0)
        shares = all(0 <= value <= 1 for value in self.is_) and len(self.at) == len(self.is_)
        if not (all(map(math.isfinite, numbers)) and ordered and shares and self.slope >= 0):
            raise ValueError("its calibration does not increase from 0 to 1")
        if self.kind == "isotonic" and not self.at:
            raise ValueError("its calibration has no points")

    def probabilities(self, scores: Scores) -> Scores:
        """Returns the probability of each log-odds."""
        if self.kind == "isotonic":
            return np.interp(scores, self.at, self.is_)
        return 1.0 / (1.0 + np.exp(-np.clip(self.slope * scores + self.offset, -700, 700)))


def fitted(kind: str, scores: Scores, labels: NDArray[np.bool_]) -> Calibration:
    """Returns the calibration by examples of both classes."""
    return _isotonic(scores, labels) if kind == "isotonic" else _platt(scores, labels)


def _platt(scores: Scores, labels: NDArray[np.bool_]) -> Calibration:
    positive, negative = int(labels.sum()), int((~labels).sum())
    targets = np.where(labels, (positive + 1) / (positive + 2), 1 / (negative + 2))
    scale = float(np.abs(scores).max()) or 1.0
    known = scores / scale
    slope, offset = 0.0, math.log((positive + 1) / (negative + 1))
    for _ in range(_STEPS):
        found = 1.0 / (1.0 + np.exp(-(slope * known + offset)))
        error, spread = found - targets, found * (1 - found)
        gradient = (math.fsum(error * known), math.fsum(error))
        if max(map(abs, gradient)) < _NEAR * len(scores):
            break
        a, b, c = math.fsum(spread * known**2) + _NEAR, math.fsum(spread * known), math.fsum(spread) + _NEAR
        size = a * c - b * b
        step = ((c * gradient[0] - b * gradient[1]) / size, (a * gradient[1] - b * gradient[0]) / size)
        slope, offset = _nearer((slope, offset), step, known, targets)
    return Calibration("platt", _short(max(0.0, slope / scale)), _short(offset))


def _short(value: float) -> float:
    """Returns a number in nine digits: the last ones depend on how a processor computes exponentials."""
    return float(f"{value:.9g}")


def _nearer(
    now: tuple[float, float], step: tuple[float, float], scores: Scores, targets: Scores
) -> tuple[float, float]:
    """Returns the next point of Newton's method; the step is halved until the loss falls."""
    before, part = _loss(now, scores, targets), 1.0
    while part > _NEAR:
        then = (now[0] - part * step[0], now[1] - part * step[1])
        if _loss(then, scores, targets) <= before:
            return then
        part /= 2
    return now


def _loss(point: tuple[float, float], scores: Scores, targets: Scores) -> float:
    odds = point[0] * scores + point[1]
    return math.fsum(np.logaddexp(0, odds) - targets * odds)


def _isotonic(scores: Scores, labels: NDArray[np.bool_]) -> Calibration:
    order = np.argsort(scores, kind="stable")
    values, starts = np.unique(scores[order], return_index=True)
    sums = np.add.reduceat(labels[order].astype(np.float64), starts)
    counts = np.diff([*starts, len(scores)]).astype(np.float64)
    pools: list[list[float]] = []
    for value, total, count in zip(values.tolist(), sums.tolist(), counts.tolist(), strict=True):
        pools.append([total, count, value, value])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [pools[-1][0] + last[0], pools[-1][1] + last[1], pools[-1][2], last[3]]
    at: list[float] = []
    is_: list[float] = []
    for pool_total, pool_count, first, end in pools:
        # No example can show that something never happens: Laplace's rule of succession for each pool.
        share = (pool_total + 1) / (pool_count + 2)
        at += [first] if first == end else [first, end]
        is_ += [share] if first == end else [share, share]
    return Calibration("isotonic", at=tuple(at), is_=tuple(_not_falling(is_)))


def _not_falling(values: Sequence[float]) -> list[float]:
    found: list[float] = np.maximum.accumulate(values).tolist()
    return found
