"""Rows of JSON lines in one line each: documents, attributes, examples, and whatever else a stage writes."""

from typing import Any

import msgspec

from corpus_assets.viewer.site import link, short
from resources.documents.names import shown_id
from resources.ledger.records import Record

_ANY = msgspec.json.Decoder()
LONGEST = 4 << 20
"""Bytes of a line up to which it is parsed for its beginning; of a longer one its first bytes are shown as they are."""


WHOLE = 256 << 20
"""Bytes of a line up to which a page about this one alone parses it."""


def decoded(line: bytes, longest: int = LONGEST) -> Any:
    """Returns the value of a JSON line; None if it is none, or longer than that."""
    if len(line) > longest:
        return None
    try:
        return _ANY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def shown_line(asset: str, record: Record, row: int, line: bytes) -> dict[str, Any]:
    """Returns a row as lists show it: number, id and source if it has them, beginning of the text, and its page."""
    value = decoded(line)
    found = {"row": row, "id": "", "source": "", "text": "", "href": ""}
    if isinstance(value, dict):
        found["id"], found["source"] = (shown_id(str(value.get(name) or ""), 120) for name in ("id", "source"))
        found["text"] = short(beginning(value))
    else:
        found["text"] = short(line[:2000].decode("utf-8", "replace"))
    if record.partition is not None:
        found["href"] = link("documents", asset, record.partition, row=row)
    return found


def beginning(value: dict[str, Any]) -> str:
    """Returns the text of a document, or what stands for it: an attribute's keys, the parts of an example."""
    text = value.get("text")
    if isinstance(text, str):
        return text
    if isinstance(value.get("attributes"), dict):
        return _attributes(value["attributes"])
    rest = {name: held for name, held in value.items() if name not in {"id", "source"}}
    return msgspec.json.encode(rest).decode("utf-8", "replace")


def _attributes(attributes: dict[str, Any]) -> str:
    """Returns each attribute as its score, or how many spans it has."""
    parts = []
    for name, spans in attributes.items():
        if not isinstance(spans, list):
            continue
        one = spans[0] if len(spans) == 1 and isinstance(spans[0], list) and len(spans[0]) == 3 else None
        parts.append(f"{name.rpartition('__')[2]} {one[2]:g}" if one else f"{name.rpartition('__')[2]} × {len(spans)}")
    return ", ".join(parts) or "no spans"
