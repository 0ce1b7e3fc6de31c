"""The rows of a file of attributes that somebody else made: an id, and values by key."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from typing_extensions import override

from corpus_assets.raw.formats.names import resolve_format
from corpus_assets.raw.readers import RawFile, read_rows
from corpus_assets.raw.rows.faults import BadRow, RowError, decode_error, shown_names
from corpus_assets.raw.rows.rules import Limits, RowParser
from resources.errors import BadFileError
from resources.stage.hooks import Values

READ = ("jsonl", "json", "jsonl.zst.tar", "parquet", "arrow")
ATTRIBUTES = "attributes"
"""The key of attributes by default; only without it every other key of a row is an attribute."""

_OF_DOLMA = ("id", "source", "added", "created", "text", "metadata")
"""Keys of documents and rows, which are no attributes where these are not in an object of their own."""


class GivenRow(NamedTuple):
    """A row as it was given. id: of its document; None if rows have none. values: by the keys of the file."""

    id: str | None
    values: Mapping[str, Any]


@dataclass(frozen=True)
class RowKeys:
    """The keys of a row. place: of the entry in corpus.yaml. keys: columns of a table that are read; None for all."""

    place: str
    id_key: str | None
    attributes_key: str
    keys: tuple[str, ...] | None

    @classmethod
    def of(cls, values: Values, place: str) -> "RowKeys":
        """Returns the keys that an entry of `attributes` names."""
        keys = values["keys"]
        return cls(place, values["id_key"], values["attributes_key"], None if keys is None else tuple(keys))


def given_rows(file: RawFile, format_: str, limits: Limits, keys: RowKeys) -> Iterator[GivenRow]:
    """Yields the rows of a file; `BadFileError` names the first that is none, and a file that cannot be read."""
    if (kind := resolve_format(file.name, format_).rows) not in READ:
        raise BadFileError(file.name, f"has format {kind}; attributes are read from {', '.join(READ)}")
    for row in read_rows(file, format_, limits, lambda: _Parser(keys, limits), bare_strings=False):
        if isinstance(row, BadRow):
            raise BadFileError(row.where, f"{row.reason}: {row.detail}")
        yield row


class _Usual(msgspec.Struct):
    """A row as Dolma writes it: it decodes in one pass."""

    id: str
    attributes: dict[str, list[tuple[int, int, int | float]]]


_USUAL = msgspec.json.Decoder(_Usual)
_OBJECT = msgspec.json.Decoder(dict[str, Any])


class _Parser(RowParser[GivenRow]):
    """Takes id and values from rows (a `RowParser`). Every method raises `RowError` for a row that is none."""

    def __init__(self, keys: RowKeys, limits: Limits) -> None:
        self.required: Sequence[Sequence[str]] = [] if keys.id_key is None else [[keys.id_key]]
        self.places: Mapping[str, str] = {} if keys.id_key is None else {keys.id_key: f"{keys.place}.id_key"}
        self.textual: Sequence[str] = ()
        taken = None if keys.keys is None else {keys.attributes_key, *keys.keys}
        self.columns: Collection[str] | None = taken if keys.id_key is None or taken is None else {*taken, keys.id_key}
        self.empty_files = False
        self._keys = keys
        self._limits = limits
        self._is_usual = (keys.id_key, keys.attributes_key) == ("id", ATTRIBUTES)

    @override
    def begin_part(self, number: int) -> None:
        """Members of an archive follow one another."""

    @override
    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> GivenRow:
        if line is None:
            raise RowError("line_too_long", f"over the limit of {self._limits.line_bytes} bytes (`longest_row`)")
        if self._is_usual:
            try:
                usual = _USUAL.decode(line)
                return GivenRow(usual.id, usual.attributes)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass  # the general way says what is wrong, or takes the row
        try:
            return self._row(_OBJECT.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise _not_finite(line) or decode_error(line, fault) from None

    @override
    def from_values(self, values: dict[str, object], place: str) -> GivenRow:
        for value in values.values():
            if isinstance(value, RowError):
                raise value
        return self._row(values)

    @override
    def from_text(self, text: str, place: str) -> GivenRow:
        raise RowError("not_an_object", "a text without keys")

    @override
    def from_record(self, values: dict[str, object], place: str) -> GivenRow:
        return self.from_values(values, place)

    def _row(self, row: dict[str, Any]) -> GivenRow:
        keys = self._keys
        identifier = None if keys.id_key is None else _id_of(row, keys.id_key)
        held = row.get(keys.attributes_key)
        if held is None and keys.attributes_key == ATTRIBUTES:
            others = {key: value for key, value in row.items() if key not in (*_OF_DOLMA, ATTRIBUTES, keys.id_key)}
            held = others or None
        if held is None:
            what = f"no key {keys.attributes_key!r} (`attributes_key`) with attributes"
            raise RowError("no_attributes", f"{what}; the row has {shown_names(row)}")
        return GivenRow(identifier, _object(held, keys.attributes_key))


def _id_of(row: Mapping[str, Any], key: str) -> str:
    """Returns the id of a row, in the form that ids of documents have."""
    found = row.get(key)
    if isinstance(found, bytes):
        found = found.decode("utf-8", "surrogateescape")
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not found:
        held = "nothing" if found in (None, "") else _kind(found)
        what = f"key {key!r} (`id_key`) holds {held}; valid: an id"
        raise RowError("no_id", f"{what}; the row has {shown_names(row)}")
    return found


def _object(held: Any, key: str) -> dict[str, Any]:
    """Returns the attributes of a row: an object, its JSON in a column of text, or a column of maps."""
    if isinstance(held, str | bytes):
        try:
            return _OBJECT.decode(held)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    if isinstance(held, list) and all(isinstance(pair, tuple) and isinstance(pair[0], str) for pair in held):
        return dict(held)
    if not isinstance(held, dict):
        raise RowError("bad_attributes", f"key {key!r} holds {_kind(held)}; valid: an object of attributes")
    return held


def _kind(value: object) -> str:
    """Returns what a value is, for a person."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)


def _not_finite(line: bytes) -> RowError | None:
    """Returns the fault of a row with a number that JSON does not have, with its key; None if that is not the fault."""
    found: list[str] = []

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            found.append(text[:20])
        return value

    def pairs(held: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, value in held:
            if found and len(found) == 1 and not _is_finite(value):
                found.append(key)
        return dict(held)

    try:
        json.loads(line, parse_constant=number, parse_float=number, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    if not found:
        return None
    where = f"key {found[1]!r} holds " if len(found) > 1 else ""
    return RowError("number_not_finite", f"{where}{found[0]}; valid: a finite number")


def _is_finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
