"""The rows of a stream: documents with their attributes and provenance, in the form of Dolma's mixer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from corpus_assets.filter.judging import Judged
from corpus_assets.filter.rules.expressions import merged
from corpus_assets.streams.toolkit_numbers import scores_as_read, toolkit_float
from resources.documents.row_rule import Row
from resources.errors import AlignmentError
from resources.formats.documents import Document

_LEAST, _OVER = -(1 << 63), 1 << 64
"""The toolkit reads integers outside these bounds as floats."""

_ENCODER = msgspec.json.Encoder(order="sorted")
_DECODER = msgspec.json.Decoder(float_hook=toolkit_float)


def stream_line(row: Row, judged: Judged, provenance: str, discard: Sequence[str], *, attributes: bool) -> bytes:
    """Returns the line of a document that stays, with its keys sorted, newline included.

    provenance: file and line, for the metadata; metadata that is no object is replaced. discard: keys that are left
    out. attributes: whether the stream has any.
    """
    value = {key: held for key, held in merged(row).value.items() if key not in discard}
    if not attributes and not value.get("attributes"):
        value.pop("attributes", None)
    if judged.document is not None:
        value["text"] = judged.document.text
    metadata = value.get("metadata")
    value["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "provenance": provenance}
    return _ENCODER.encode(value) + b"\n"


def as_raw(
    rows: Iterable[Row], lines: Iterable[bytes | None], where: str, *, same_texts: bool = False
) -> Iterator[Row]:
    """Yields rows with the lines of the raw file instead of those of documents.

    `AlignmentError`, with the file `where`, unless there is a line for each document. same_texts: also if normalization
    changed a text, whose spans then are not those of the line.
    """
    written = enumerate(line for line in lines if line is None or not line.isspace())
    for row in rows:
        place, line = next(written, (row.number, b""))
        raw = _raw_row(row, line, where, place)
        if same_texts and raw.document.text != row.document.text:
            raise AlignmentError(
                where,
                place,
                "has a text that normalization changed, so that spans are not those of the raw row; "
                "`normalize.method: none` keeps texts as they are",
            )
        yield raw
    if (more := next(written, None)) is not None:
        raise AlignmentError(where, more[0], "gave no document, so that rows cannot be those of the raw file")


def _raw_row(row: Row, line: bytes | None, where: str, place: int) -> Row:
    try:
        given = _decoded(line, where, place)
        value = _within_64_bits(given)
    except OverflowError:
        raise AlignmentError(where, place, "holds a number that is too large for a double") from None
    identifier = row.document.id
    named = str(given["id"]) == identifier if given.get("id") is not None else identifier.endswith(f":{place}")
    if not named or not isinstance(given.get("text"), str):
        raise AlignmentError(where, place, f"gave no document, or not the one with id {identifier!r}")
    attributes = scores_as_read(row.attributes)
    return Row(row.number, msgspec.json.encode(value), attributes, Document(identifier, given["text"], ""))


def _decoded(line: bytes | None, where: str, place: int) -> dict[str, Any]:
    try:
        value = _DECODER.decode(line or b"")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AlignmentError(where, place, f"is no row of JSON: {error}") from None
    if not isinstance(value, dict):
        raise AlignmentError(where, place, "is no JSON object")
    return value


def _within_64_bits(value: Any) -> Any:
    """Returns a JSON value with integers of more than 64 bits as floats."""
    if isinstance(value, dict):
        return {key: _within_64_bits(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_within_64_bits(held) for held in value]
    if type(value) is int and not _LEAST <= value < _OVER:
        float(value)  # Raises OverflowError for one whose digits could be millions.
        return toolkit_float(str(value))
    return value


def packed(sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """Yields files that are put into one, in their order, with no more than `most` bytes together.

    sizes: bytes of each raw file. One that is larger is alone.
    """
    held: list[str] = []
    total = 0
    for name, size in sizes.items():
        if held and total + size > most:
            yield held
            held, total = [], 0
        held.append(name)
        total += size
    if held:
        yield held
