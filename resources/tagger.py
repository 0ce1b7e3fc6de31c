"""Taggers: small pure functions that score spans of a document's text, known by name and version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from resources.formats.attributes import Span
from resources.formats.documents import Document

Spans = Mapping[str, Sequence[Span]]
"""Spans by type, which is the last part of an attribute key."""

T = TypeVar("T")


class Text:
    """A document as taggers see it: its text, and what they compute from it, each once.

    Taggers that run together share it: `text.once(words)` calls `words(text)` for the first of them only.
    """

    __slots__ = ("_kept", "document", "string")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.string = document.text
        self._kept: dict[Callable[[Text], Any], Any] = {}

    def once(self, function: Callable[["Text"], T]) -> T:
        """Returns what a function of the text returns, computed by the first caller."""
        if function not in self._kept:
            self._kept[function] = function(self)
        return cast(T, self._kept[function])

    def whole(self, score: float) -> list[Span]:
        """Returns one span over the whole text."""
        return [(0, len(self.string), score)]

    @property
    def metadata(self) -> dict[str, Any]:
        """The document's metadata; empty if it has none."""
        return self.once(_metadata)


def _metadata(text: Text) -> dict[str, Any]:
    raw = text.document.metadata
    return msgspec.json.decode(raw, type=dict[str, Any]) if bytes(raw) else {}


Tag = Callable[[Text], Spans]


@dataclass(frozen=True)
class Tagger:
    """One tagger.

    name: as corpus.yaml and attribute keys have it: letters, digits and underscores.
    tag: module-level function of a text. It depends on nothing else, and scores are finite.
    version: raise it in the commit that changes what `tag` returns.
    gives: the types it gives and what they say, for the documentation.
    source: who defined it.
    dolma: the function for `compat: dolma`, where the original's values are defects.

        def shouting(text: Text) -> Spans:
            capitals = sum(map(str.isupper, text.string))
            return {"capitals": text.whole(capitals / max(1, len(text.string)))}

        TAGGERS = [Tagger("shouting", shouting, version="1", gives="`capitals`: share of capital letters")]
    """

    name: str
    tag: Tag
    version: str
    gives: str
    source: str = "your own"
    dolma: Tag | None = None
