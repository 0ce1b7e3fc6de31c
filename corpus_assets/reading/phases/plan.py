"""A training plan: phases, each with weights of sources and a number of windows."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import index
from typing import Annotated, NamedTuple

import msgspec

from corpus_assets.reading.errors import ReadingError

PARTS = 1 << 32
"""The sum of the weights of a phase as whole numbers."""
MOST_WINDOWS = 1 << 48
"""Windows that a phase may have."""


class Phase(NamedTuple):
    """A phase: how many ids are predicted in it, and the weights of sources, which need not add up to 1."""

    tokens: int
    weights: Mapping[str, float]


class Planned(msgspec.Struct, frozen=True):
    """A phase as states hold it: its windows, and the parts of `PARTS` that each source has of them."""

    windows: Annotated[int, msgspec.Meta(ge=1, le=MOST_WINDOWS)]
    parts: dict[str, Annotated[int, msgspec.Meta(ge=0, le=PARTS)]]


def planned(phases: Sequence[Phase], length: int) -> list[Planned]:
    """Returns the phases for windows that predict `length` ids each; `ReadingError` for a plan that makes no sense."""
    if length < 1:
        raise ReadingError(f"length is {length}; valid: 1 or more")
    if not phases:
        raise ReadingError("the plan has no phase; valid: one or more")
    return [_planned(number, phase, length) for number, phase in enumerate(phases)]


def _planned(number: int, phase: Phase, length: int) -> Planned:
    try:
        tokens, weights = index(phase.tokens), dict(sorted(phase.weights.items()))
        bad = {source: weight for source, weight in weights.items() if not (0 <= weight < math.inf)}
    except (TypeError, AttributeError) as error:
        raise ReadingError(
            f"phase {number} is {phase!r}: {error}; valid: Phase(tokens, weights), a whole number and numbers by source"
        ) from None
    if not length <= tokens <= MOST_WINDOWS * length:
        raise ReadingError(
            f"phase {number}: tokens is {tokens}; valid: {length}, one window, to {MOST_WINDOWS * length}"
        )
    if bad:
        raise ReadingError(f"phase {number}: weights are {bad}; valid: numbers from 0 up")
    total = sum(map(Fraction, weights.values()))
    if not total:
        raise ReadingError(f"phase {number}: weights are {weights}; valid: at least one above 0")
    exact = {source: Fraction(weight) * PARTS / total for source, weight in weights.items()}
    parts = {source: math.floor(part) for source, part in exact.items()}
    by_rest = sorted(exact, key=lambda source: parts[source] - exact[source])
    for source in by_rest[: PARTS - sum(parts.values())]:
        parts[source] += 1
    if lost := [source for source, part in parts.items() if weights[source] and not part]:
        raise ReadingError(f"phase {number}: {lost[0]!r} has less than 1 / {PARTS:,} of the weights; leave it out")
    return Planned(tokens // length, {source: part for source, part in parts.items() if part})
