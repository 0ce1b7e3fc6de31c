"""The form above the list of documents: its parameters, what it offers, and addresses with other parameters."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.mix.assets import LEAVE_OUT, REASONS
from corpus_assets.viewer.listing.fates import KEPT, UNKNOWN
from corpus_assets.viewer.listing.looking import DROPPED, IN_ORDER, ORDERS, Wanted
from corpus_assets.viewer.listing.values import CHARACTERS, FATE, SOURCE, WORDS, number_names
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.site import Asked, link

MOST_NUMBERS = 500


@dataclass(frozen=True)
class Form:
    """A form that was sent. wanted: which documents are asked for; given: its parameters, as an address has them."""

    wanted: Wanted
    given: dict[str, Any]
    sources: list[str]
    fates: list[str]
    numbers: list[str]

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
        number = query.one_of("number", numbers)
        wanted = Wanted(words, number, query.decimal("min"), query.decimal("max"), query.one_of("order", ORDERS))
        given: dict[str, Any] = {**words, "min": query.text("min"), "max": query.text("max")}
        given["number"] = number if number != CHARACTERS else None
        given["order"] = wanted.order if wanted.order != IN_ORDER else None
        return cls(wanted, given, sources, fates, numbers[:MOST_NUMBERS])

    def address(self, *page: str, **changes: Any) -> str:
        """Returns the address of a page with the parameters of the form, some of them changed."""
        return link(*page, **{**self.given, **changes})


def _fates(view: View) -> Iterator[str]:
    """Yields the fates that documents may have: those that records count, and those that the mix asks about."""
    found = [KEPT, DROPPED, *(REASONS.get(name, name) for name in view.corpus.settings.get(LEAVE_OUT))]
    for asset in (FILTERED, "mixed_pass1"):
        for record in view.present(asset).values():
            found += record.numbers.get("dropped") or {}
    yield from dict.fromkeys([*found, UNKNOWN])
