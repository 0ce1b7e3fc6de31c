"""Finds documents by id, by the digest of their text, and by words in it; one can go on with a search that is long."""

from collections.abc import Iterator

from corpus_assets.filter.assets import READ
from corpus_assets.tracing.finding import Found, Results, Sought, find_documents
from corpus_assets.tracing.likely import is_indexed
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.names import Match, Matches, named
from corpus_assets.tracing.tables import text_at
from corpus_assets.viewer.query import MOST_NAME
from corpus_assets.viewer.site import Asked, link, page, seen, short
from resources.documents.names import shown_id
from resources.errors import ConfigError
from resources.formats.jsonl.members import TABLE

FIRST_SECONDS = 0.12
"""Of a search through texts before its first page is shown; going on may take longer."""

INDEXED_SECONDS = 1.0
"""The same with an index of texts, which leaves few of them to look through."""

ID_SECONDS = 2.0
MORE_SECONDS = 3.0
SHOWN = 50
AROUND = 120


def search(asked: Asked) -> str:
    """Shows the documents that were found, and a link to go on."""
    view = asked.view
    words, source, cursor = (asked.query.text(name, MOST_NAME) for name in ("q", "source", "cursor"))
    settings = view.corpus.settings
    known = [*settings.sources(), *(entry["name"] for entry in settings.inputs())]
    asked.query.one_of("source", ["", *known])
    results: list[tuple[str, list[dict[str, object]]]] = []
    texts: Results | None = None
    if words or source:
        look = view.look()
        if not cursor:
            results = list(_named(look, words, source)) if words else []
        seconds = MORE_SECONDS if cursor else INDEXED_SECONDS if is_indexed(look) else FIRST_SECONDS
        sought = Sought(piece=words or None, source=source or None)
        texts = find_documents(look, sought, limit=SHOWN, seconds=seconds, cursor=cursor or None)
        title = f"Texts that hold “{short(words, 100)}”" if words else f"Documents of {source}"
        results.append((title, [_row(look, found, words) for found in texts.found]))
    return page(
        asked,
        "search.html",
        "Search",
        q=words,
        source=source,
        sources=known,
        groups=[(title, group) for title, group in results if group],
        asked_for=bool(words or source),
        looked_at=texts.looked_at if texts else 0,
        total=texts.total if texts else 0,
        more=link("search", q=words, source=source, cursor=texts.cursor) if texts and texts.cursor else "",
    )


def _named(look: Look, words: str, source: str) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yields rows for documents of this name, and for those whose id holds it.

    The first look at ten million documents a second; the last one stops early, and its title says so.
    """
    within = source or None
    try:
        matches = named(look, words, within, limit=SHOWN, seconds=ID_SECONDS)
    except ConfigError:  # A row that there is not; the words may stand in a text all the same.
        matches = Matches([])
    yield f"Documents named {short(words, 100)}", [_match(look, one) for one in matches.found]
    part = find_documents(look, Sought(id_piece=words, source=within), limit=SHOWN, seconds=FIRST_SECONDS)
    how = ", the first" if part.cursor else ""
    known = {(one.shard, one.number) for one in matches.found}
    others = [_row(look, one) for one in part.found if (one.shard, one.number) not in known]
    yield f"Documents whose id holds {short(words, 100)}{how}", others


def _snippet(look: Look, found: Found, piece: str) -> tuple[str, str, str] | None:
    """Returns what stands before a piece, the piece, and what stands after it; None if the row has no text with it."""
    documents = look.partition(READ, found.shard)
    if look.asset_of(found.shard) != READ or documents is None or not documents.has(TABLE):
        return None
    text = text_at(documents, found.number)
    place = text.find(piece)
    if place < 0:
        return None
    before = "\n".join(text[max(0, place - AROUND) : place].split("\n")[-2:])  # So that the piece is in view.
    after = text[place + len(piece) : place + len(piece) + AROUND]
    return seen(before), seen(piece[: 4 * AROUND]), seen(after)


def _match(look: Look, match: Match) -> dict[str, object]:
    if match.number is not None:
        return _row(look, Found(match.source, match.id, match.shard, match.number))
    href = link("why", shard=match.shard, row=match.row)
    place = f"{match.shard}, row {match.row or 0:,} from 0"
    return {
        "id": "a row that gave no document",
        "source": match.source,
        "href": href,
        "why": href,
        "place": place,
        "snippet": None,
    }


def _row(look: Look, found: Found, piece: str = "") -> dict[str, object]:
    asset, why = look.asset_of(found.shard), link("why", shard=found.shard, number=found.number)
    return {
        "id": shown_id(found.id, 160),
        "source": found.source,
        "href": why if look.holds_ids(found.shard) else link("documents", asset, found.shard, row=found.number),
        "why": why,
        "snippet": _snippet(look, found, piece) if piece else None,
        "place": f"document {found.number:,} of {found.shard}",
    }
