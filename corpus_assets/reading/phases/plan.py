"""A training plan: phases, each with weights of sources and a number of windows."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, NamedTuple

import msgspec

from corpus_assets.reading.errors import ReadingError

PARTS = 1 << 32
"""The sum of the weights of a phase as whole numbers."""


class Phase(NamedTuple):
    """A phase: how many ids are predicted in it, and the weights of sources, which need not add up to 1."""

    tokens: int
    weights: Mapping[str, float]


class Planned(msgspec.Struct, frozen=True):
    """A phase as states hold it: its windows, and the parts of `PARTS` that each source has of them."""

    windows: Annotated[int, msgspec.Meta(ge=1)]
    parts: dict[str, Annotated[int, msgspec.Meta(ge=0, le=PARTS)]]


def planned(phases: Sequence[Phase], length: int) -> list[Planned]:
    """Returns the phases for windows that predict `length` ids each; `ReadingError` for a plan that makes no sense."""
    if not phases:
        raise ReadingError("the plan has no phase; valid: one or more")
    return [_planned(number, phase, length) for number, phase in enumerate(phases)]


def _planned(number: int, phase: Phase, length: int) -> Planned:
    if phase.tokens < length:
        raise ReadingError(f"phase {number}: tokens is {phase.tokens}; valid: {length} or more, one window")
    weights = dict(sorted(phase.weights.items()))
    if bad := {source: weight for source, weight in weights.items() if not (0 <= weight < math.inf)}:
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
    return Planned(phase.tokens // length, {source: part for source, part in parts.items() if part})
