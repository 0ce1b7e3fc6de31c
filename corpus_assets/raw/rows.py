"""One raw row to one document: text, id and metadata by rules, or a typed reason why not."""

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from corpus_assets.raw.faults import ESCAPE, RowError, check_json, decode_error, has_lone_surrogate, replaced
from resources.documents import NO_METADATA, Document


@dataclass(frozen=True)
class RowRules:
    """How the rows of one source become documents.

    `ids`: `given` demands an id in every row, `derived` makes one from file and row for every row, `auto`
    follows the first good row of each file: with an id there, rows without one are bad; without, only rows
    that have none get a derived one. `metadata_key` None means `metadata`, or `meta` where a row has no
    `metadata`. `lone_surrogates`: whether a text with an escape of half a surrogate pair is a bad row, or keeps
    it for a normalization that repairs it (as the reference does; specs/slimpajama.md section 2).
    """

    source: str
    format: str = "auto"
    text_key: str = "text"
    id_key: str = "id"
    ids: Literal["auto", "given", "derived"] = "auto"
    metadata_key: str | None = None
    lone_surrogates: Literal["refuse", "keep"] = "refuse"


@dataclass(frozen=True)
class Limits:
    """Bounds on what is read from outside.

    `line_bytes`: one line, or one whole text file. `nesting`: depth of lists and objects in metadata, below
    what the JSON parsers of this project and of its readers take. `ratio`: decompressed to compressed size,
    once more than `free_bytes` came out (gzip cannot pass 1032).
    """

    line_bytes: int = 256 << 20
    nesting: int = 256
    ratio: int = 4096
    free_bytes: int = 64 << 20

    def decompressed(self, compressed_bytes: int) -> int:
        """Bytes that a compressed stream of this size may decompress to."""
        return max(self.free_bytes, compressed_bytes * self.ratio)


Fields = dict[str, msgspec.Raw]
"""The values of a row by key, as JSON bytes."""

_OBJECT: Final = msgspec.json.Decoder(Fields)
_STRING: Final = msgspec.json.Decoder(str)
_KINDS: Final = {
    ord('"'): "string",
    ord("{"): "object",
    ord("["): "list",
    ord("t"): "boolean",
    ord("f"): "boolean",
    ord("n"): "null",
}
_INTEGER: Final = re.compile(rb"-?[0-9]+")


class _Dolma(msgspec.Struct, forbid_unknown_fields=True):
    """A row that is a Dolma document and nothing more: it decodes in one pass."""

    id: str
    text: str
    source: str = ""
    added: str | None = None
    created: str | None = None
    metadata: msgspec.Raw = NO_METADATA


_DOLMA: Final = msgspec.json.Decoder(_Dolma)


class RowReader:
    """Builds the documents of one raw file in reading order; counts its rows, good and bad, for derived ids.

    Every method raises `RowError` for a row that gives no document.

    Nothing given is dropped. `added`, `created` and the metadata key are Dolma fields when they hold a
    string, a string and an object; null there, and a `source` equal to the configured one, say nothing and
    are left out. Every other top-level key, those with another type included (metadata that is a list stays
    `{"metadata": [...]}`), is merged into the metadata object; where that object has the key already,
    underscores are appended until it is free. Metadata alone keeps its bytes.
    """

    def __init__(self, rules: RowRules, limits: Limits) -> None:
        self._rules = rules
        self._limits = limits
        self._row = -1
        self._id_required: bool | None = {"auto": None, "given": True, "derived": False}[rules.ids]
        usual = (rules.text_key, rules.id_key) == ("text", "id") and rules.metadata_key in (None, "metadata")
        self._may_be_dolma = usual and rules.ids != "derived"

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Document:
        """Document of one JSON line; None stands for a line over the limit. Derived ids begin with `place`.

        With `bare_strings` a line that is a JSON string is a text (specs/cerebras-hdf5.md section 2).
        """
        self._row += 1
        if line is None:
            raise RowError("line_too_long", f"over the limit of {self._limits.line_bytes} bytes")
        if self._may_be_dolma and (document := self._dolma(line)) is not None:
            return document
        try:
            if self._rules.lone_surrogates == "keep" and has_lone_surrogate(line):
                return self._document(*self._with_surrogates(line, bare_strings), place)
            return self._document(*self._values(line, bare_strings), place)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise decode_error(line, fault) from None

    def _values(self, line: bytes, bare_strings: bool) -> tuple[str, Fields]:
        """The text of a row, and its other values."""
        if bare_strings and line.lstrip().startswith(b'"'):
            return _STRING.decode(line), {}
        fields = _OBJECT.decode(line)
        text = fields.pop(self._rules.text_key, None)
        if text is None:
            raise self._no_text(fields)
        if (kind := _kind(text)) != "string":
            raise RowError("text_not_a_string", f"key {self._rules.text_key!r} holds {kind}")
        return _STRING.decode(text), fields

    def _with_surrogates(self, line: bytes, bare_strings: bool) -> tuple[str, Fields]:
        """As `_values`, with lone surrogates kept in the text, and U+FFFD in their place anywhere else."""
        _, fields = self._values(ESCAPE.sub(replaced, line), bare_strings)
        # Numbers stay strings: only the text is taken, and a long integer would be refused.
        row = json.loads(line.decode(), parse_int=str, parse_float=str)
        return (row if isinstance(row, str) else row[self._rules.text_key]), fields

    def _dolma(self, line: bytes) -> Document | None:
        """The document of a plain Dolma row, in one pass; None when the row wants the general way.

        A file whose rows are of another shape is not tried again: the outcome is the same either way.
        """
        try:
            row = _DOLMA.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._may_be_dolma = False
            return None
        metadata = bytes(row.metadata).replace(b"\r", b" ")
        if not row.id or row.source not in ("", self._rules.source) or metadata[:1] not in (b"", b"{"):
            return None
        if metadata:
            check_json(metadata, self._limits.nesting)
        self._id_required = True if self._id_required is None else self._id_required
        held = msgspec.Raw(metadata) if metadata else NO_METADATA
        return Document(row.id, row.text, self._rules.source, row.added, row.created, held)

    def from_values(self, values: dict[str, object], place: str) -> Document:
        """Document of one row of typed columns; a value may be the `RowError` met when it was converted.

        Text and id may be bytes that are UTF-8. Values in metadata take their JSON form: times as ISO 8601,
        bytes as base64, NaN and infinities as null. A null id is no id.
        """
        self._row += 1
        for value in values.values():
            if isinstance(value, RowError):
                raise value
        text = values.pop(self._rules.text_key)
        given = values.pop(self._rules.id_key, None)
        try:
            if given is not None:
                values[self._rules.id_key] = given.decode() if isinstance(given, bytes) else given
            fields = {key: msgspec.Raw(msgspec.json.encode(value, enc_hook=str)) for key, value in values.items()}
            return self._document(_utf8(text), fields, place)
        except UnicodeDecodeError as fault:
            raise RowError("invalid_utf8", str(fault)) from None

    def from_text(self, text: str, place: str) -> Document:
        """Document of a text that comes with nothing else."""
        self._row += 1
        return self._document(text, {}, place)

    def _document(self, text: str, fields: Fields, place: str) -> Document:
        given = self._given_id(fields)
        source = fields.get("source")
        if source is not None and _says_nothing(source, self._rules.source):
            del fields["source"]
        document = Document(
            id=f"{place}:{self._row}" if given is None else given,
            text=text,
            source=self._rules.source,
            added=_take_string(fields, "added"),
            created=_take_string(fields, "created"),
            metadata=self._metadata(fields),
        )
        if self._id_required is None:
            self._id_required = given is not None
        return document

    def _no_text(self, fields: Fields) -> RowError:
        keys = ", ".join(repr(key[:40]) for key in list(fields)[:10])
        return RowError("no_text", f"no key {self._rules.text_key!r}; the row has {keys or 'no keys'}")

    def _given_id(self, fields: Fields) -> str | None:
        """The row's own id, taken out of `fields`; None when one is to be derived."""
        if self._rules.ids == "derived":
            return None
        raw = fields.pop(self._rules.id_key, None)
        if raw is None:
            if self._id_required:
                raise RowError("no_id", f"no key {self._rules.id_key!r}")
            return None
        kind = _kind(raw)
        if kind == "string":
            if given := _STRING.decode(raw):
                return given
            kind = "an empty string"
        elif kind == "number" and _INTEGER.fullmatch(raw):
            return bytes(raw).decode()
        raise RowError("bad_id", f"key {self._rules.id_key!r} holds {kind}; valid: non-empty string, integer")

    def _metadata(self, fields: Fields) -> msgspec.Raw:
        """The metadata object with the remaining `fields` merged in; see the class for the rules."""
        key = self._rules.metadata_key or ("metadata" if "metadata" in fields else "meta")
        own = fields.get(key)
        kind = "null" if own is None else _kind(own)
        if own is not None and kind in ("object", "null"):
            del fields[key]
        if fields:
            merged = _OBJECT.decode(own) if own is not None and kind == "object" else {}
            for name, value in fields.items():
                free = name
                while free in merged:
                    free += "_"
                merged[free] = value
            encoded = msgspec.json.encode(merged)
        elif own is not None and kind == "object":
            encoded = bytes(own)
        else:
            return NO_METADATA
        check_json(encoded, self._limits.nesting)
        # A carriage return between JSON tokens would end the line for readers with universal newlines.
        return msgspec.Raw(encoded.replace(b"\r", b" "))


def _kind(raw: msgspec.Raw) -> str:
    return _KINDS.get(memoryview(raw)[0], "number")


def _utf8(text: object) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode()
    raise RowError("text_not_a_string", "the text is null")


def _says_nothing(raw: msgspec.Raw, source: str) -> bool:
    kind = _kind(raw)
    return kind == "null" or (kind == "string" and _STRING.decode(raw) == source)


def _take_string(fields: Fields, key: str) -> str | None:
    """Remove and return a string, remove a null; leave any other type where it is."""
    raw = fields.get(key)
    if raw is None or (kind := _kind(raw)) not in ("string", "null"):
        return None
    del fields[key]
    return _STRING.decode(raw) if kind == "string" else None
