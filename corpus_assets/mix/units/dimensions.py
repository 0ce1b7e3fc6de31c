"""Buckets of documents in one respect, and the names of units that are made of several."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from corpus_assets.config.selection.mixing import METADATA, SOURCE, MixCopies, MixOrder, MixUnit
from corpus_assets.filter.rules.entries import Entries, labels_of, source_of
from corpus_assets.mix.units.values import MISSING, Subject, Value, label, number


@dataclass(frozen=True)
class Scored:
    """A score of which borders are wanted.

    name: among all. shares: of the documents up to each border. missing: the score that documents without one have
    here; None: they do not count.
    """

    name: str
    subject: Subject
    shares: tuple[Fraction, ...]
    missing: float | None = None


@dataclass(frozen=True)
class Dimension:
    """A part of `mix.units`.

    name: in tables. place: its key in corpus.yaml, for messages. quantiles, ranges: of scores, as there; None for
    labels and sources.
    """

    name: str
    place: str
    subject: Subject
    quantiles: int | None = None
    ranges: tuple[float, ...] | None = None

    def bucket(self, borders: Sequence[float] | None) -> Callable[[Value], str]:
        """Returns the function that names the bucket of a value. borders: of quantiles."""
        if self.ranges is not None:
            names = range_names(self.ranges)
            return lambda value: _named(value, lambda score: names[bisect_right(self.ranges or (), score)])
        if self.quantiles is not None:
            buckets = quantile_names(self.quantiles)
            return lambda value: _named(value, lambda score: buckets[bisect_left(borders or (), score)])
        return label

    @property
    def scored(self) -> Scored | None:
        """What its borders are made of; None if it has no quantiles."""
        if self.quantiles is None:
            return None
        shares = tuple(Fraction(part, self.quantiles) for part in range(1, self.quantiles))
        return Scored(f"units-{self.name}", self.subject, shares)


def known_buckets(quantiles: int | None, ranges: Sequence[float] | None) -> list[str] | None:
    """Returns the names of the buckets of a score; None for labels, which only the documents say."""
    if quantiles is not None:
        return [*quantile_names(quantiles), MISSING]
    return None if ranges is None else [*range_names(ranges), MISSING]


def quantile_names(quantiles: int) -> list[str]:
    """Returns the names of so many buckets, from that of the least scores: `q01` to `q20`."""
    width = len(str(quantiles))
    return [f"q{place:0{width}}" for place in range(1, quantiles + 1)]


def range_names(ranges: Sequence[float]) -> list[str]:
    """Returns the names of the buckets between borders: `under 0.2`, `0.2 to 0.5`, `from 0.5`."""
    words = [f"{border:.12g}" for border in ranges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return [f"under {words[0]}", *between, f"from {words[-1]}"]


def unit_name(buckets: Sequence[str]) -> str:
    """Returns the name of a unit, given its bucket in each respect: `science/q07`.

    If there are several, `/` in one is written `%2F`, and `%` as `%25`, so that two units never share a name.
    """
    if len(buckets) == 1:
        return buckets[0]
    return "/".join(bucket.replace("%", "%25").replace("/", "%2F") for bucket in buckets)


def dimensions_of(units: str | Sequence[MixUnit], entries: Entries) -> tuple[Dimension, ...]:
    """Returns what units are made of; nothing for sources. `ConfigError` for an attribute that does not exist."""
    if isinstance(units, str):
        return ()
    return tuple(_dimension(unit, entries, f"mix.units.{place}.by") for place, unit in enumerate(units))


def subject_of(section: MixUnit | MixCopies | MixOrder, entries: Entries, where: str, *, is_score: bool) -> Subject:
    """Returns what a section reads of documents; `ConfigError`, with `where`, for an attribute that does not exist."""
    by = section.by
    if by == SOURCE:
        return Subject("source", by)
    if by.startswith(METADATA):
        return Subject("metadata", by, by.removeprefix(METADATA), is_open=True)
    if is_score:
        found = source_of(by, entries, where)
        return Subject("score", by, found.key, found.asset, section.of, found.is_open)
    found = labels_of(by, entries, where)
    return Subject("label", by, found.key, found.asset, is_open=True)


def assets_of(subjects: Sequence[Subject]) -> list[str]:
    """Returns the assets whose attributes are read, each once."""
    return list(dict.fromkeys(subject.asset for subject in subjects if subject.asset is not None))


def borders_of(stored: Mapping[str, Sequence[float]], dimensions: Sequence[Dimension]) -> list[Sequence[float] | None]:
    """Returns the borders of each part of the units, which only quantiles have."""
    return [stored[one.scored.name] if one.scored is not None else None for one in dimensions]


def _dimension(unit: MixUnit, entries: Entries, where: str) -> Dimension:
    is_score = unit.quantiles is not None or unit.ranges is not None
    ranges = None if unit.ranges is None else tuple(unit.ranges)
    return Dimension(unit.called, where, subject_of(unit, entries, where, is_score=is_score), unit.quantiles, ranges)


def _named(value: Value, bucket: Callable[[float], str]) -> str:
    score = number(value)
    return MISSING if score is None else bucket(score)
