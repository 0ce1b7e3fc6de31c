"""The list of documents: a few at a time, each with the beginning of its text and what is known of it."""

from typing import Any

import numpy as np

from corpus_assets.filter.assets import READ
from corpus_assets.mix.kept import REASONS
from corpus_assets.numbers import count
from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.tracing.tables import attribute_at, id_at
from corpus_assets.viewer.browse import pages
from corpus_assets.viewer.lines import beginning, decoded
from corpus_assets.viewer.listing.fates import KEPT, UNKNOWN, fates_of
from corpus_assets.viewer.listing.form import Form
from corpus_assets.viewer.listing.looking import IN_ORDER, Looked, look_for
from corpus_assets.viewer.listing.splits import NONE, NOT_KNOWN
from corpus_assets.viewer.listing.values import CHARACTERS, FATE, LANGUAGE, LICENCE, SPLIT, Block
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.reading import TooFarError, lines_at, lines_file
from corpus_assets.viewer.site import Asked, link, page, short, way_link
from resources.documents.names import document_name, shown_id

PER_PAGE = 25
SNIPPET = 300


def listing(asked: Asked) -> str:
    """Shows the documents that a form asks for: in the order of the corpus page by page, or sorted by a number.

    Sorted are the documents that one page looks at; the page says how many these are, and links to the others.
    """
    form, query = Form.of(asked), asked.query
    cursor, start = query.text("cursor", 2000), query.number("from", high=10**6)
    in_order = form.wanted.order == IN_ORDER
    found = look_for(asked.view, form.wanted, cursor, enough=PER_PAGE if in_order else None)
    shown = range(0 if in_order else start, min(len(found.places), PER_PAGE + (0 if in_order else start)))
    return page(
        asked,
        "listing.html",
        "Documents",
        form=form,
        rows=[_row(asked.view, form, found, place) for place in shown],
        found=len(found.places),
        pages=None
        if in_order
        else pages(
            start,
            PER_PAGE,
            len(found.places),
            lambda at: form.address("documents", cursor=cursor, **{"from": at or None}),
        ),
        in_order=in_order,
        looked=found,
        first=form.address("documents") if cursor else "",
        more=form.address("documents", cursor=found.cursor) if found.cursor else "",
        facets=form.address("facets", cursor=cursor),
        clear=link("documents") if any(form.given.values()) or cursor else "",
    )


def _row(view: View, form: Form, found: Looked, place: int) -> dict[str, Any]:
    shard, row = found.places[place].tolist()
    made = found.shards[shard]
    block = Block(view, view.look(), made, row, row + 1)
    key, (fate,), (split,) = made.key or "", block.words(FATE), block.words(SPLIT)
    characters = block.numbers(CHARACTERS)[0]
    return {
        "id": shown_id(id_at(made, row), 160),
        "source": block.source,
        "href": link("documents", READ, key, row=row),
        "text": _text(view, block),
        "length": "" if np.isnan(characters) else f"{count(int(characters))} characters",
        "licence": short(block.words(LICENCE)[0], 80),
        "language": short(block.words(LANGUAGE)[0], 40),
        "fate": plain(fate),
        "colour": {KEPT: "good", UNKNOWN: "soft"}.get(fate, "bad"),
        "kept": _kept(view, block, fate),
        "split": "" if split in (NONE, NOT_KNOWN) else split,
        "why": link("why", shard=key, number=row),
        "numbers": [
            (one.name, f"{block.numbers(one.name)[0]:g}") for one in form.wanted.asked if one.name != CHARACTERS
        ],
    }


def _kept(view: View, block: Block, fate: str) -> dict[str, str] | None:
    """Returns the document that is kept instead of a duplicate."""
    look = view.look()
    made = look.partition("duplicates", block.documents.key) if fate == REASONS["duplicates"] else None
    if made is None:
        return None
    kept = attribute_at(made, int(fates_of(look, block.documents).after[block.first])).kept or {}
    source, identifier = str(kept.get("source")), str(kept.get("id"))
    return {"name": document_name(source, identifier, 120), "href": way_link(source, identifier)}


def _text(view: View, block: Block) -> str:
    file = lines_file(block.documents.record)
    if file is None:
        return ""
    try:
        (line,) = lines_at(block.documents, view.corpus.storage, file, block.first, 1)
    except TooFarError as error:
        return str(error)
    value = decoded(line)
    return short(beginning(value) if isinstance(value, dict) else line[:2000].decode("utf-8", "replace"), SNIPPET)
