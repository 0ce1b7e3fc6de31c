"""The subjects of documents, which are compared, in blocks of many documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from resources.documents.looked_for import LookedFor
from resources.formats.documents import Document

PARTS = ("paragraphs", "ngrams")
"""Values of `by` that compare parts of texts; all others compare one subject per document."""

_FIELDS = ("id", "added", "created")

BLOCK_CHARACTERS = 1 << 18


@dataclass
class Block:
    """Subjects of documents that have one.

    rows: row of each document in its shard.
    subjects: the compared texts.
    lengths: code points of each document's text.
    absent: number of documents without a subject among them.
    """

    rows: list[int] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    absent: int = 0


def blocks(
    documents: Iterable[Document], by: str, size: int = BLOCK_CHARACTERS, looked_for: LookedFor | None = None
) -> Iterator[Block]:
    """Yields the subjects of all documents in blocks of at least `size` code points; the last one may be smaller.

    looked_for: counts the documents that have one.
    """
    block, held = Block(), 0
    for row, document in enumerate(documents):
        subject = _subject(document, by)
        if looked_for is not None:
            looked_for.add(names_of(document) if looked_for.needs_names else (), [] if subject is None else [by])
        if subject is None:
            block.absent += 1
            continue
        block.rows.append(row)
        block.subjects.append(subject)
        block.lengths.append(len(document.text))
        held += len(subject)
        if held >= size:
            yield block
            block, held = Block(), 0
    yield block


def names_of(document: Document) -> list[str]:
    """Returns the names of a document's values besides its text that could be compared."""
    raw = bytes(document.metadata)
    fields = [field for field in _FIELDS if getattr(document, field) is not None]
    return [*fields, *(f"metadata.{key}" for key in (msgspec.json.decode(raw) if raw else ()))]


def _subject(document: Document, by: str) -> str | None:
    """Returns the subject of a document; None if it has no such field or metadata.

    A value that is not text is compared in its JSON form with sorted keys.
    """
    if by == "text" or by in PARTS:
        return document.text
    if by in _FIELDS:
        field: str | None = getattr(document, by)
        return field
    raw = bytes(document.metadata)
    value: Any = msgspec.json.decode(raw) if raw else None
    for key in ["url"] if by == "url" else by.split(".")[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="deterministic").decode()
