"""One document whole: its text, its metadata, and every attribute of it, with spans marked in the text."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from corpus_assets.viewer.browse import pages, record_of
from corpus_assets.viewer.documents.attributes import Attribute, attributes_of
from corpus_assets.viewer.lines import WHOLE, decoded
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.reading import lines_at, lines_file
from corpus_assets.viewer.site import Asked, link, page, seen, short, way_link
from resources.documents.names import document_name, shown_id
from resources.ledger.records import partition_name

TEXT = 40_000
"""Characters of a text on one page; the others are a click away."""

MOST_FIELDS = 200
_IDENTITY = ("id", "source", "created", "added")
_PARTS = {"id", "text", "source", "added", "created", "metadata", "attributes"}


def document(asked: Asked) -> str:
    """Shows one row of an asset whose rows are documents, attributes or examples."""
    view = asked.view
    asset, key = asked.path["asset"], asked.path["partition"]
    record = record_of(view, asset, key)
    file = lines_file(record)
    if file is None or not file.rows:
        raise missing(f"{partition_name(asset, key)} has no rows to show one by one.")
    row = asked.query.number("row", high=file.rows - 1)
    (line,) = lines_at(view.handle(record), view.corpus.storage, file, row, 1)
    value = decoded(line, WHOLE)
    if not isinstance(value, dict):
        value = {"text": line[:TEXT].decode("utf-8", "replace")}
    text = value["text"] if isinstance(value.get("text"), str) else ""
    start = min(asked.query.number("from"), max(0, len(text) - 1))
    attributes = list(attributes_of(view, record, row, value)) if record.partition else []
    marked = asked.query.text("spans")
    chosen = _chosen(attributes, marked)

    def here(**more: object) -> str:
        return link("documents", asset, key, row=row, **more)

    return page(
        asked,
        "documents.html",
        f"{shown_id(str(value.get('id') or row), 60)} – {partition_name(asset, key)}",
        asset=asset,
        key=key,
        row=row,
        up=link("assets", asset, key),
        identity=[(name, shown_id(str(value[name]), 500)) for name in _IDENTITY if value.get(name)],
        why=_why(value),
        text_parts=list(pieces(text[start : start + TEXT], start, chosen.spans if chosen else [])),
        length=len(text),
        has_text="text" in value,
        chosen=chosen.name if chosen else "",
        unmarked=_unmarked(attributes, marked) if text else None,
        text_pages=pages(start, TEXT, len(text), lambda at: here(**{"from": at or None}, spans=marked)),
        metadata=_fields(value.get("metadata")),
        others=_fields({name: held for name, held in value.items() if name not in _PARTS}),
        attributes=[_shown(one, here(spans=one.name) if text else "") for one in attributes],
        row_pages=pages(row, 1, file.rows, lambda at: link("documents", asset, key, row=at)),
    )


def _chosen(attributes: Sequence[Attribute], name: str) -> Attribute | None:
    """Returns the attribute whose spans are marked: the one asked for, else the first that marks a few pieces.

    Spans that count in another text than the one shown are never marked in it.
    """
    markable = [one for one in attributes if not one.basis.differs]
    if name:
        return next((one for one in markable if one.name == name), None)
    marking = [one for one in markable if one.spans and not one.is_whole]
    return min(marking, key=lambda one: len(one.spans), default=None)


def _unmarked(attributes: Sequence[Attribute], name: str) -> dict[str, str] | None:
    """Returns why the spans of an attribute are not marked though it was asked for; None if they are."""
    found = next((one for one in attributes if one.name == name), None)
    if found is None or not found.basis.differs:
        return None
    return {"name": name, "words": found.basis.differs, "href": found.there()}


def pieces(text: str, start: int, spans: Sequence[tuple[int, int, float]]) -> Iterator[tuple[str, float | None]]:
    """Yields a text in pieces, each with the score of the first span that it is in; None outside of all.

    text: from code point `start` on of the text that the spans count in.
    """
    at = 0
    for begin, end, score in sorted(spans):
        first, last = max(begin - start, at), min(end - start, len(text))
        if first >= last:
            continue
        if first > at:
            yield seen(text[at:first]), None
        yield seen(text[first:last]), score
        at = last
    if at < len(text):
        yield seen(text[at:]), None


def _shown(attribute: Attribute, href: str) -> dict[str, Any]:
    whole, differs = attribute.is_whole, attribute.basis.differs
    scores = [score for _, _, score in attribute.spans]
    return {
        "name": attribute.name,
        "asset": attribute.asset,
        "whole": whole,
        "score": f"{scores[0]:g}" if whole or len(scores) == 1 else "",
        "spans": len(scores),
        "range": f"{min(scores):g} to {max(scores):g}" if scores and not whole else "",
        "href": "" if whole or not scores or differs or not href else f"{href}#text",
        "differs": differs if scores else "",
        "there": attribute.there() if scores and (differs or not href) else "",
        "kept": _kept(attribute.kept),
        "items": [_item(item) for item in attribute.items],
    }


def _item(item: dict[str, Any]) -> str:
    return ", ".join(f"{name} {short(str(held), 80)}" for name, held in list(item.items())[:10])


def _why(value: dict[str, Any]) -> str:
    """Returns the address of the way of a document; empty if it does not say which one it is."""
    if not (value.get("id") and value.get("source")):
        return ""
    return way_link(str(value["source"]), str(value["id"]))


def _kept(kept: dict[str, Any] | None) -> dict[str, str] | None:
    if kept is None or not isinstance(kept.get("row"), int) or not isinstance(kept.get("shard"), str):
        return None
    return {
        "text": document_name(str(kept.get("source")), str(kept.get("id")), 120),
        "cluster": link("duplicates", kept["shard"], row=kept["row"]) if "cluster" in kept else "",
        "why": way_link(str(kept.get("source")), str(kept.get("id"))),
    }


def _fields(value: Any) -> list[tuple[str, str]]:
    """Returns a mapping as names and values to show; nothing for anything else."""
    if not isinstance(value, dict):
        return []
    shown = ((name, held if isinstance(held, str) else _json(held)) for name, held in list(value.items())[:MOST_FIELDS])
    return [(short(str(name), 100), seen(text[:2000]) + (" …" if len(text) > 2000 else "")) for name, text in shown]


def _json(value: Any) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode("utf-8", "replace")
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return repr(value)[:2000]
