"""Finds documents by id, by the digest of their text, and by words in it; one can go on with a search that is long."""

import re

from corpus_assets.tracing.finding import Found, Results, Sought, find_documents
from corpus_assets.tracing.look import Look
from corpus_assets.viewer.site import Asked, link, page, short

FIRST_SECONDS = 0.12
"""Of a search through texts before its first page is shown; going on may take longer."""

MORE_SECONDS = 3.0
SHOWN = 50
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")


def search(asked: Asked) -> str:
    """Shows the documents that were found, and a link to go on."""
    view = asked.view
    words, source, cursor = (asked.query.text(name) for name in ("q", "source", "cursor"))
    settings = view.corpus.settings
    known = [*settings.sources(), *(entry["name"] for entry in settings.inputs())]
    asked.query.one_of("source", ["", *known])
    results: list[tuple[str, list[Found]]] = []
    texts: Results | None = None
    if words or source:
        look = view.look()
        if not cursor:
            results = list(_named(look, words, source)) if words else []
        seconds = MORE_SECONDS if cursor else FIRST_SECONDS
        sought = Sought(piece=words or None, source=source or None)
        texts = find_documents(look, sought, limit=SHOWN, seconds=seconds, cursor=cursor or None)
        results.append((f"Texts that hold “{short(words, 100)}”" if words else f"Documents of {source}", texts.found))
    return page(
        asked,
        "search.html",
        "Search",
        q=words,
        source=source,
        sources=known,
        groups=[(title, [_row(look, found) for found in group]) for title, group in results if group],
        asked_for=bool(words or source),
        looked_at=texts.looked_at if texts else 0,
        total=texts.total if texts else 0,
        more=link("search", q=words, source=source, cursor=texts.cursor) if texts and texts.cursor else "",
    )


def _named(look: Look, words: str, source: str) -> list[tuple[str, list[Found]]]:
    """Returns documents by their id, by a part of it, and by the digest of their text."""
    found = []
    exact = find_documents(look, Sought(id=words, source=source or None), limit=SHOWN, seconds=FIRST_SECONDS).found
    found.append((f"Documents with the id {short(words, 100)}", exact))
    if digest := _DIGEST.fullmatch(words):
        sought = Sought(digest=bytes.fromhex(digest[1]), source=source or None)
        results = find_documents(look, sought, limit=SHOWN, seconds=FIRST_SECONDS)
        found.append(("Documents whose text has this SHA-256", results.found))
    part = find_documents(look, Sought(id_piece=words, source=source or None), limit=SHOWN, seconds=FIRST_SECONDS).found
    others = [one for one in part if one not in exact]
    found.append((f"Documents whose id holds {short(words, 100)}", others))
    return found


def _row(look: Look, found: Found) -> dict[str, object]:
    asset = look.asset_of(found.shard)
    return {
        "id": short(found.id, 160),
        "source": found.source,
        "href": link("documents", asset, found.shard, row=found.number),
        "why": link("why", shard=found.shard, number=found.number),
        "place": f"{found.shard}, row {found.number:,}",
    }
