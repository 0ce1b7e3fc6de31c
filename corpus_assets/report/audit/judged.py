"""The share of wrong removals from judgements of a sample, with its confidence interval."""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

Z = 1.959964
"""Standard deviations of a normal distribution that 95 % lie within."""


class Judged(NamedTuple):
    """Judgements of documents of one source and band: of how many removed ones, and how many were found wrong."""

    removed: int
    judged: int
    wrong: int


class Share(NamedTuple):
    """A share with the ends of its 95 % confidence interval; None without a judgement."""

    share: float
    low: float
    high: float


def wilson(share: float, number: float) -> Share:
    """Returns the interval of a share that was found in so many judgements (Wilson 1927)."""
    middle = share + Z * Z / (2 * number)
    half = Z * sqrt(share * (1 - share) / number + Z * Z / (4 * number * number))
    scale = 1 + Z * Z / number
    return Share(share, max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0))


def wrong_share(bands: Mapping[str, Judged]) -> Share | None:
    """Returns the share of wrong removals of all bands; None if none was judged.

    Bands are weighted by the documents removed in them, those without a judgement left out. The interval is that of as
    many judgements as have the same variance: 1 / sum(w^2 / n), for bands of weight w with n judgements (Kish 1965).
    """
    counted = [band for band in bands.values() if band.judged]
    total = sum(band.removed for band in counted)
    if not total:
        return None
    weights = [band.removed / total for band in counted]
    share = sum(weight * band.wrong / band.judged for weight, band in zip(weights, counted, strict=True))
    number = 1 / sum(weight * weight / band.judged for weight, band in zip(weights, counted, strict=True))
    return wilson(share, number)
