"""Dolma attributes: one JSON line per document, aligned with the document's row (specs/dolma.md section 3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

Span = tuple[int, int, float]

SHORT = "short_documents__cleaned__short"
DUPLICATE = "duplicates__minhash__duplicate"
CLUSTER_SIZE = "duplicates__minhash__cluster_size"

FLAGS = "flags"
"""Name of the part of an attribute partition that says which rows are flagged, whatever else is said of them."""


class AttributeRow(msgspec.Struct, omit_defaults=True):
    """Spans per attribute key, in code points of the text; `kept` names the document a duplicate gave way to.

    `kept` holds `source` and `id` of that document, its `shard` and `row`, and the id of the `cluster`.
    """

    id: str
    attributes: dict[str, list[Span]]
    source: str = ""
    kept: dict[str, str | int] | None = None


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(AttributeRow)


def attribute_line(
    identifier: str,
    source: str,
    spans: Mapping[str, Sequence[Span]],
    kept: dict[str, str | int] | None = None,
) -> bytes:
    """One attribute row, newline included."""
    row = AttributeRow(identifier, {key: list(value) for key, value in spans.items()}, source, kept)
    return _ENCODER.encode(row) + b"\n"


def attribute_rows(lines: Iterable[bytes]) -> Iterator[AttributeRow]:
    """Rows of an attribute file."""
    return map(_DECODER.decode, lines)


def flags(lines: Iterable[bytes], key: str) -> Iterator[bool]:
    """Whether each row has a span with a positive score under `key`."""
    for row in attribute_rows(lines):
        yield any(score > 0 for _, _, score in row.attributes.get(key, ()))
