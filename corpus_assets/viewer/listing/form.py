"""The form above the list of documents: its parameters, what it offers, and addresses with other parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.mix.kept import LEAVE_OUT, REASONS
from corpus_assets.viewer.listing.fates import KEPT, UNKNOWN
from corpus_assets.viewer.listing.looking import DROPPED, IN_ORDER, ORDERS, Range, Wanted
from corpus_assets.viewer.listing.splits import NONE, NOT_KNOWN, SPLITS
from corpus_assets.viewer.listing.values import CHARACTERS, FATE, SOURCE, SPLIT, WORDS, number_names
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import Query, missing
from corpus_assets.viewer.site import Asked, link

MOST_NUMBERS = 500
MOST_RANGES = 6
"""Numbers whose ranges a form can ask for at once: `number`, `min` and `max`, then `number2`, `min2` and `max2`."""

_PARTS = ("number", "min", "max")


@dataclass(frozen=True)
class Form:
    """A form that was sent. wanted: which documents are asked for; given: its parameters, as an address has them."""

    wanted: Wanted
    given: dict[str, Any]
    sources: list[str]
    fates: list[str]
    numbers: list[str]
    splits = SPLITS

    @classmethod
    def of(cls, asked: Asked) -> "Form":
        """Reads the parameters of a request; `RefusedError` for any that is not valid."""
        view, query = asked.view, asked.query
        if READ not in view.corpus.graph.stages:
            raise missing("This corpus has no sources, so it has no documents; its datasets have files of their own.")
        sources, fates = list(view.corpus.settings.sources()), list(_fates(view))
        numbers = number_names(view)
        words = {name: query.text(name) for name in WORDS}
        words[SOURCE], words[FATE] = query.one_of(SOURCE, ["", *sources]), query.one_of(FATE, ["", *fates])
        words[SPLIT] = query.one_of(SPLIT, ["", *SPLITS, NONE, NOT_KNOWN])
        first, *others = (_range(query, numbers, place) for place in range(MOST_RANGES))
        ranges = (first, *(one for one in others if one.is_bounded))
        wanted = Wanted(words, ranges, query.one_of("order", ORDERS))
        given: dict[str, Any] = {**words, **_parameters(ranges)}
        given["order"] = wanted.order if wanted.order != IN_ORDER else None
        return cls(wanted, given, sources, fates, numbers[:MOST_NUMBERS])

    def address(self, *page: str, **changes: Any) -> str:
        """Returns the address of a page with the parameters of the form, some of them changed."""
        return link(*page, **{**self.given, **changes})

    def narrowed(self, page: str, name: str, low: float, high: float) -> str:
        """Returns the address of those documents of a page of which a number is from `low` to `high` besides."""
        ranges = list(self.wanted.ranges)
        place = next((at for at, one in enumerate(ranges) if one.name == name), -1)
        if place >= 0:
            own = ranges[place]
            low = low if own.low is None else max(low, own.low)
            high = high if own.high is None else min(high, own.high)
            ranges[place] = Range(name, low, high)
        else:
            kept = ranges if self.wanted.order != IN_ORDER else [one for one in ranges if one.is_bounded]
            ranges = [*kept, Range(name, low, high)]
        return self.address(page, **{**dict.fromkeys(_parameters(self.wanted.ranges)), **_parameters(ranges)})

    @property
    def fields(self) -> list[dict[str, Any]]:
        """Returns the ranges as the form shows them: those that were sent, and one that is empty."""
        ranges = [*self.wanted.ranges, *([Range(CHARACTERS)] if self.wanted.ranges[-1].is_bounded else [])]
        return [
            {
                "name": one.name,
                "parts": [_parameter(part, place) for part in _PARTS],
                "low": _spelled(one.low),
                "high": _spelled(one.high),
            }
            for place, one in enumerate(ranges[:MOST_RANGES])
        ]


def _parameter(part: str, place: int) -> str:
    return f"{part}{place + 1}" if place else part


def _range(query: Query, numbers: Sequence[str], place: int) -> Range:
    number, low, high = (_parameter(part, place) for part in _PARTS)
    return Range(query.one_of(number, numbers), query.decimal(low), query.decimal(high))


def _parameters(ranges: Sequence[Range]) -> dict[str, str | None]:
    """Returns the parameters of ranges; the name of the number that a form begins with is left out."""
    found: dict[str, str | None] = {}
    for place, one in enumerate(ranges):
        values = (one.name if one.name != CHARACTERS else None, _spelled(one.low), _spelled(one.high))
        found |= {_parameter(part, place): value for part, value in zip(_PARTS, values, strict=True)}
    return found


def _spelled(value: float | None) -> str:
    """Returns a number as an address has it, exactly; empty if there is none."""
    return "" if value is None else repr(value).removesuffix(".0")


def _fates(view: View) -> Iterator[str]:
    """Yields the fates that documents may have: those that records count, and those that the mix asks about."""
    found = [KEPT, DROPPED, *(REASONS.get(name, name) for name in view.corpus.settings.get(LEAVE_OUT))]
    for asset in (FILTERED, "mixed_pass1"):
        for record in view.present(asset).values():
            found += record.numbers.get("dropped") or {}
    yield from dict.fromkeys([*found, UNKNOWN])
