"""What a classifier is worth on examples that neither training nor calibration have seen."""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

BINS: Final = 10
THRESHOLD: Final = 0.5
_DIGITS = 5


class Bin(msgspec.Struct, frozen=True):
    """Held-out examples with a score from `low` to `high`: how many, their mean score, and the share of positives."""

    low: float
    high: float
    examples: int
    mean: float
    positive: float


class Figures(msgspec.Struct, frozen=True):
    """The figures. precision, recall, f1: of the score 0.5. auc: area under the ROC curve; ties count half.

    ece: expected calibration error, the mean difference between score and share of positives over ten bins.
    brier: mean square of the difference between score and label.
    """

    positive: int
    negative: int
    precision: float
    recall: float
    f1: float
    auc: float
    ece: float
    brier: float
    bins: tuple[Bin, ...]


def figures_of(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> Figures:
    """Returns the figures of held-out examples of both classes. scores: probabilities."""
    chosen = scores >= THRESHOLD
    hits, positive = int((chosen & labels).sum()), int(labels.sum())
    precision = hits / max(1, int(chosen.sum()))
    recall = hits / positive
    bins = _bins(scores, labels)
    return Figures(
        positive=positive,
        negative=len(labels) - positive,
        precision=round(precision, _DIGITS),
        recall=round(recall, _DIGITS),
        f1=round(2 * precision * recall / (precision + recall or 1), _DIGITS),
        auc=round(_area(scores, labels), _DIGITS),
        ece=round(sum(one.examples * abs(one.mean - one.positive) for one in bins) / len(labels), _DIGITS),
        brier=round(float(np.mean((scores - labels) ** 2)), _DIGITS),
        bins=tuple(bins),
    )


def _area(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Returns the share of pairs of a positive and a negative example in which the positive one scores higher."""
    values, places = np.unique(scores, return_inverse=True)
    positive = np.bincount(places[labels], minlength=len(values))
    negative = np.bincount(places[~labels], minlength=len(values))
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum() / (positive.sum() * negative.sum()))


def _bins(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> list[Bin]:
    places = np.minimum((scores * BINS).astype(np.int64), BINS - 1)
    found = []
    for number in range(BINS):
        held = places == number
        if held.any():
            mean, share = float(scores[held].mean()), float(labels[held].mean())
            low, high = number / BINS, (number + 1) / BINS
            found.append(Bin(low, high, int(held.sum()), round(mean, _DIGITS), round(share, _DIGITS)))
    return found
