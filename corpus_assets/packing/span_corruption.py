"""How long a text must be for T5's span corruption to fill an input exactly."""

from bisect import bisect_right
from typing import NamedTuple


class SpanLengths(NamedTuple):
    """Ids before corruption, and ids of its targets."""

    raw: int
    targets: int


def span_corruption_lengths(inputs: int, density: float, mean_span: float) -> SpanLengths:
    """Returns the most ids that corruption turns into at most `inputs` ids, and how many ids the targets then have.

    density: share of ids that are noise, over 0 and below 1. mean_span: ids of a noise span, 1 or more. Each span
    becomes one sentinel in the inputs, and one before its ids in the targets; both end with an end-of-text id. T5 has
    two exceptions: texts are no shorter than `inputs`, even where these make one input too many, as spans of one id do;
    and with a density of 0.5, targets that come out longer than the inputs are one shorter, as are the texts.
    ValueError for values out of range.
    """
    if inputs < 1 or not 0 < density < 1 or mean_span < 1:
        raise ValueError(
            f"inputs {inputs}, density {density}, mean span {mean_span}; valid: 1 or more, 0 to 1, 1 or more"
        )
    # Corrupted inputs never get shorter when a text gets longer, so the longest text is found by halving.
    candidates = range(int(inputs / (1 - density)) + 2)
    longest = bisect_right(candidates, inputs, key=lambda ids: _corrupted(ids, density, mean_span)[0]) - 1
    raw = max(inputs, longest)
    found, targets = _corrupted(raw, density, mean_span)
    if density == 0.5 and targets > found:
        raw, targets = raw - 1, targets - 1
    return SpanLengths(raw, targets)


def _corrupted(ids: int, density: float, mean_span: float) -> tuple[int, int]:
    """Returns the ids of inputs and targets."""
    noise = round(ids * density)
    spans = round(noise / mean_span)
    return ids - noise + spans + 1, noise + spans + 1
