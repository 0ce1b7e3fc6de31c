"""The licence of a document: from its metadata, or from its source."""

from collections.abc import Mapping
from typing import Any

import msgspec

from corpus_assets.licences.names import folded

NONE = "none stated"
OTHERS = "others"
MOST = 500
"""Most licences that are counted separately in one partition."""


class _Line(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"")


_LINE = msgspec.json.Decoder(_Line)


class Licences:
    """Finds the licences of the documents of one source.

    stated: the source's licence. key: of the metadata with a document's own licence, with dots into objects; None if
    all documents have the source's.
    """

    def __init__(self, stated: str | None, key: str | None) -> None:
        self._path = key.split(".") if key else []
        self.of_all = None if key else folded(stated or "") or NONE

    def of_line(self, line: bytes) -> str:
        """Returns the licence of a stored document."""
        return self.of_all or self.of_metadata(_LINE.decode(line).metadata)

    def of_metadata(self, metadata: msgspec.Raw) -> str:
        """Returns the licence of a document with that metadata; `NONE` if nothing is stated there."""
        if self.of_all is not None:
            return self.of_all
        value: Any = msgspec.json.decode(metadata) if bytes(metadata) else None
        for part in self._path:
            value = value.get(part) if isinstance(value, dict) else None
        names = value if isinstance(value, list) else [value]
        return folded("; ".join(name for name in names if isinstance(name, str) and name.strip())) or NONE


def names_of(metadata: msgspec.Raw) -> list[str]:
    """Returns the keys of a document's metadata."""
    return list(msgspec.json.decode(metadata)) if bytes(metadata) else []


def metadata_of(line: bytes) -> msgspec.Raw:
    """Returns the metadata of a stored document."""
    return _LINE.decode(line).metadata


class Count:
    """Documents and bytes of text by licence, of documents of one source."""

    def __init__(self) -> None:
        self._found: dict[str, list[int]] = {}

    def add(self, licence: str, text_bytes: int, documents: int = 1) -> None:
        """Counts documents under a licence; beyond `MOST` different ones, under `OTHERS`."""
        name = licence if licence in self._found or len(self._found) < MOST else OTHERS
        one = self._found.setdefault(name, [0, 0])
        one[0] += documents
        one[1] += text_bytes

    def numbers(self) -> Mapping[str, Mapping[str, int]]:
        """Returns the counts, the licence with the most text first."""
        ordered = sorted(self._found.items(), key=lambda item: (-item[1][1], item[0]))
        return {name: {"documents": count, "text_bytes": size} for name, (count, size) in ordered}
