"""Addresses of pages, texts made safe to show, and pages with the links of the site around them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from corpus_assets.html.pages import render
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import Query
from resources.documents.names import LONGEST, shown_id

BASE = "/corpus"
SECTIONS = (
    ("Overview", "/"),
    ("Documents", "/documents"),
    ("Search", "/search"),
    ("Duplicates", "/duplicates"),
    ("Tokens", "/tokens"),
    ("Plan", "/plan"),
    ("Changes", "/changes"),
    ("Configuration", "/config"),
    ("Report", "/report"),
)
_SECTION_OF = {
    "overview.html": "/",
    "listing.html": "/documents",
    "facets.html": "/documents",
    "items.html": "/benchmarks",
    "cluster.html": "/duplicates",
    "token_row.html": "/tokens",
    "what_if.html": "/plan",
}
LINE = 240
# Controls, overrides of direction, what has no width and is no joiner, and halves of pairs.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]")


@dataclass(frozen=True)
class Asked:
    """One request: the corpus, the parts of the path, and the parameters. alone: False inside the Dagster web UI."""

    view: View
    path: dict[str, str]
    query: Query
    alone: bool = True


Page = Callable[[Asked], str | Response]


def link(*parts: str, **query: object) -> str:
    """Returns the address of a page: parts of the path, each one name, and parameters that are not None or empty."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    path = "".join(f"/{quote(part, safe='', errors='surrogatepass')}" for part in parts)
    return f"{BASE}{path or '/'}" + (f"?{urlencode(given, errors='surrogatepass')}" if given else "")


def way_link(source: str, identifier: str) -> str:
    """Returns the address of the way of a document; of a very long id it holds the beginning."""
    named = identifier if len(identifier) <= LONGEST else shown_id(identifier)
    return link("why", source=source, id=named)


def seen(text: str) -> str:
    """Returns a text in which every character that one would not see, or that turns its neighbours, is an escape."""
    return _UNSEEN.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def short(text: str, most: int = LINE) -> str:
    """Returns the beginning of a text on one line, made safe to show."""
    cut = " ".join(text[: 2 * most].split())
    return seen(cut if len(cut) <= most and len(text) <= 2 * most else f"{cut[:most]} …")


def page(asked: Asked, template: str, title: str, **values: Any) -> str:
    """Returns a page of a template with the links of the site."""
    section = _SECTION_OF.get(template, f"/{template.partition('.')[0]}")
    return render(
        "corpus_assets.viewer",
        template,
        static=f"{BASE}/static",
        base=BASE,
        sections=[(name, f"{BASE}{path}", path == section) for name, path in SECTIONS],
        corpus=asked.view.corpus.config.name,
        alone=asked.alone,
        title=title,
        store_notes=[seen(note[:1000]) for note in asked.view.notes()],
        **values,
    )
