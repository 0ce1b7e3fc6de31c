"""Turns one raw row into one document, or into the reason why it is not one."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from typing_extensions import override

from corpus_assets.raw.rows.faults import ESCAPE, RowError, decode_error, has_lone_surrogate, replaced
from corpus_assets.raw.rows.json_values import (
    ANY,
    BLANK_LINE,
    OBJECT,
    STRING,
    Fields,
    joined_strings,
    kind_of,
    lift,
    names,
    take_string,
    utf8,
)
from corpus_assets.raw.rows.paths import joined_text, lift_values
from corpus_assets.raw.rows.rules import Limits, RowNames, SourceRules, json_fields, renamed
from resources.formats.documents import NO_METADATA, Document


@dataclass(frozen=True)
class RowRules(SourceRules):
    """The rules by which the rows of one source become documents.

    text_key: the key of the text, or several. Of a single one without dots the value is a string; texts of several
        keys, of a list of strings, and of a key that leads into objects are joined, without those that are empty.
    lone_surrogates: `refuse` makes a row bad if its text has an escape of half a surrogate pair; `keep` keeps the
        escape for a normalization that repairs it, as SlimPajama does (docs/formats/slimpajama.md "Normalization").
    loose_texts: in JSON lines a row may be a bare string, and a text a list of strings, as SlimPajama reads them.
    """

    text_key: str | tuple[str, ...] = "text"
    lone_surrogates: Literal["refuse", "keep"] = "refuse"
    loose_texts: bool = False

    @property
    @override
    def content_keys(self) -> tuple[str, ...]:
        return (self.text_key,) if isinstance(self.text_key, str) else self.text_key

    @property
    def joins(self) -> bool:
        """Whether a text may have several parts."""
        return not isinstance(self.text_key, str) or "." in self.text_key


class _Dolma(msgspec.Struct, forbid_unknown_fields=True):
    """A row with only the fields of a Dolma document: it decodes in one pass."""

    id: str
    text: str
    source: str = ""
    added: str | None = None
    created: str | None = None
    metadata: msgspec.Raw = NO_METADATA


_DOLMA: Final = msgspec.json.Decoder(_Dolma)


class RowReader:
    """Builds the documents of one raw file in reading order (a `RowParser`).

    Every method raises `RowError` for a row that gives no document.

    No value of a row is lost. `added` and `created` are Dolma fields if they hold a string, the metadata key if it
    holds an object. If they are null they are left out, and so is a `source` equal to the configured one.
    `RowNames` merges every other top-level key into the metadata object, also those of another type (metadata that
    is a list becomes `{"metadata": [...]}`).
    """

    def __init__(self, rules: RowRules, limits: Limits) -> None:
        keys, others = rules.content_keys, rules.metadata_columns
        self.required: Sequence[Sequence[str]] = [keys]
        self.places = rules.seen.places
        self.textual: Sequence[str] = [] if rules.joins else keys
        self.columns: Collection[str] | None = None if others is None else {*keys, rules.id_key, *others}
        self.empty_files = False
        self._rules = rules
        self._names = RowNames(rules, limits)
        self._keys, self._key = keys, keys[0]
        usual = (rules.text_key, rules.id_key) == ("text", "id") and rules.metadata_key in (None, "metadata")
        usual = usual and rules.metadata_keys is None
        self._may_be_dolma = usual and rules.ids != "derived"

    def begin_part(self, number: int) -> None:
        """Notes that the next rows lie in another part of the file, which does not affect documents."""
        self._names.begin_part(number)

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Document:
        """Returns the document of one JSON line; None is a line over the limit. Derived ids begin with `place`.

        With `bare_strings` a line that is a JSON string is a text (docs/formats/cerebras-hdf5.md "Reading input").
        """
        line = self._names.next_line(line)
        try:
            if self._may_be_dolma and (document := self._dolma(line, place)) is not None:
                return document
            if self._rules.lone_surrogates == "keep" and has_lone_surrogate(line):
                return self._document(*self._with_surrogates(line, bare_strings), place)
            return self._document(*self._values(line, bare_strings), place)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise decode_error(line, fault) from None

    def _values(self, line: bytes, bare_strings: bool) -> tuple[str, Fields]:
        """Returns the text of a row, and its other values."""
        if bare_strings and line.lstrip().startswith(b'"'):
            self._rules.seen.row({})
            return STRING.decode(line), {}
        fields = OBJECT.decode(line)
        lift(fields, self._names.nested)
        self._rules.seen.row(fields)
        if self._rules.joins:
            return self._joined(
                {key: ANY.decode(fields.pop(key)) for key in self._keys if key in fields}, fields
            ), fields
        text = fields.pop(self._key, None)
        if text is None:
            raise RowError("no_text", f"no key {self._key!r}; the row has {names(fields)}")
        if (kind := kind_of(text)) == "string":
            return STRING.decode(text), fields
        if kind == "list" and self._rules.loose_texts and (joined := joined_strings(text)) is not None:
            return joined, fields
        hint = f"; `text_key: [{self._key}]` joins a list of strings" if kind == "list" else ""
        raise RowError("text_not_a_string", f"key {self._key!r} holds {kind}{hint}")

    def _joined(self, values: Mapping[str, object], others: Iterable[str]) -> str:
        """Returns the text of several values. others: the other keys of the row."""
        return joined_text(values, self._keys, self._rules.separator, others)

    def _with_surrogates(self, line: bytes, bare_strings: bool) -> tuple[str, Fields]:
        """Returns the same as `_values`, with lone surrogates kept in the text, and replaced by U+FFFD elsewhere."""
        _, fields = self._values(ESCAPE.sub(replaced, line), bare_strings)
        # Numbers stay strings: only the text is used, and `json` refuses very long integers.
        row = json.loads(line.decode(), parse_int=str, parse_float=str)
        if self._rules.joins and not isinstance(row, str):
            lift_values(row, self._names.nested)
            return self._joined(row, ()), fields
        text = row if isinstance(row, str) else row[self._key]
        return (text if isinstance(text, str) else BLANK_LINE.join(text)), fields

    def _dolma(self, line: bytes, place: str) -> Document | None:
        """Returns the document of a plain Dolma row, decoded in one pass; None if the row needs the general method.

        After a row of another shape the rest of the file uses the general method, which gives the same documents.
        """
        try:
            row = _DOLMA.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._may_be_dolma = False
            return None
        metadata = bytes(row.metadata)
        if not row.id or row.source not in ("", self._rules.source) or metadata[:1] not in (b"", b"{"):
            return None
        held = self._names.checked(metadata) if metadata else NO_METADATA
        given = self._names.settle(row.id, place)
        return Document(given, row.text, self._rules.source, row.added, row.created, held)

    def from_values(self, values: dict[str, object], place: str) -> Document:
        """Returns the document of one row of typed columns; a value may be the `RowError` of its conversion.

        Text and id may be UTF-8 bytes. Values in metadata take their JSON form (`json_fields`). A null id counts as
        missing.
        """
        self._names.next_values(values)
        self._rules.seen.columns(values)
        if self._rules.joins:
            parts = {key: values.pop(key) for key in self._keys if key in values}
            return self._document(self._joined(parts, values), json_fields(values), place)
        text = values.pop(self._key, None)
        if not isinstance(text, str | bytes):
            raise RowError("text_not_a_string", "the text is null")
        return self._document(str(utf8(text)), json_fields(values), place)

    def from_text(self, text: str, place: str) -> Document:
        """Returns the document of a text without other values."""
        self._names.next_row()
        self._rules.seen.row({})
        return self._document(text, {}, place)

    def from_record(self, values: dict[str, object], place: str) -> Document:
        """Returns the document of a text under the key `text`, with its id under `id`, and further values."""
        return self.from_values(renamed(values, text=self._key, id=self._rules.id_key), place)

    def _document(self, text: str, fields: Fields, place: str) -> Document:
        given = self._names.take_id(fields)
        added = take_string(fields, "added")
        created = take_string(fields, "created")
        metadata = self._names.metadata(fields)
        return Document(self._names.settle(given, place), text, self._rules.source, added, created, metadata)
