"""What rows of every shape share: limits, ids given or derived, and metadata of all that is given beside."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeVar, get_args

import msgspec

from corpus_assets.raw.faults import RowError, check_json
from corpus_assets.raw.json_values import OBJECT, STRING, Fields, free_key, kind_of, says_nothing, utf8
from resources.errors import ConfigError
from resources.formats.documents import NO_METADATA

Ids = Literal["auto", "given", "derived"]
Built_co = TypeVar("Built_co", covariant=True)

_INTEGER: Final = re.compile(rb"-?[0-9]+")


@dataclass(frozen=True)
class SourceRules:
    """How the rows of one source are told apart, and what else they bring.

    `ids`: `given` demands an id in every row, `derived` makes one from file and row for every row, `auto`
    follows the first good row of each file: with an id there, rows without one are bad; without, only rows
    that have none get a derived one. `metadata_key` None means `metadata`, or `meta` where a row has no
    `metadata`.
    """

    source: str
    format: str = "auto"
    id_key: str = "id"
    ids: Ids = "auto"
    metadata_key: str | None = None

    def __post_init__(self) -> None:
        if self.ids not in get_args(Ids):
            raise ConfigError(f"ids is {self.ids!r}; valid: {', '.join(get_args(Ids))}")


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


class RowParser(Protocol[Built_co]):
    """Turns the raw rows of one file, in reading order, into what they hold.

    `required`: groups of columns; a table needs one of each group. `textual`: columns that must hold text. Every
    method raises `RowError` for a row that gives nothing.
    """

    required: Sequence[Sequence[str]]
    textual: Sequence[str]

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Built_co:
        """One JSON line; None stands for a line over the limit. Derived ids begin with `place`."""

    def from_values(self, values: dict[str, object], place: str) -> Built_co:
        """One row of typed columns; a value may be the `RowError` met when it was converted."""

    def from_text(self, text: str, place: str) -> Built_co:
        """A text that comes with nothing else."""


class RowNames:
    """Counts the rows of one raw file, good and bad; gives the good ones their ids and their metadata."""

    def __init__(self, rules: SourceRules, limits: Limits) -> None:
        self._rules = rules
        self._limits = limits
        self._row = -1
        self._id_required: bool | None = {"auto": None, "given": True, "derived": False}[rules.ids]

    def next_row(self) -> None:
        """Count a row, whatever becomes of it."""
        self._row += 1

    def next_line(self, line: bytes | None) -> bytes:
        """Count a row of JSON lines; raises `RowError` for None, a line over the limit."""
        self.next_row()
        if line is None:
            raise RowError("line_too_long", f"over the limit of {self._limits.line_bytes} bytes (`longest_row`)")
        return line

    def next_values(self, values: dict[str, object]) -> None:
        """Count a row of typed columns; its id may be bytes that are UTF-8, a null id is no id.

        Raises the `RowError` that stands in place of a value, or that the id is no UTF-8.
        """
        self.next_row()
        for value in values.values():
            if isinstance(value, RowError):
                raise value
        given = values.pop(self._rules.id_key, None)
        if given is not None:
            values[self._rules.id_key] = utf8(given)

    def take_id(self, fields: Fields) -> str | None:
        """The row's own id, taken out of `fields`; None when one is to be derived."""
        if self._rules.ids == "derived":
            return None
        raw = fields.pop(self._rules.id_key, None)
        if raw is None:
            if self._id_required:
                raise RowError("no_id", f"no key {self._rules.id_key!r}")
            return None
        kind = kind_of(raw)
        if kind == "string":
            if given := STRING.decode(raw):
                return given
            kind = "an empty string"
        elif kind == "number" and _INTEGER.fullmatch(raw):
            return bytes(raw).decode()
        raise RowError("bad_id", f"key {self._rules.id_key!r} holds {kind}; valid: non-empty string, integer")

    def settle(self, given: str | None, place: str) -> str:
        """Id of a row that is good in all else; the first such row of a file decides whether all need one."""
        if self._id_required is None:
            self._id_required = given is not None
        return f"{place}:{self._row}" if given is None else given

    def metadata(self, fields: Fields) -> msgspec.Raw:
        """The metadata object with all other `fields` merged in, less a `source` that is known anyway.

        Where the object has a key already, underscores are appended until it is free. Metadata alone keeps its
        bytes; metadata of another type than object or null is a field like any other.
        """
        source = fields.get("source")
        if source is not None and says_nothing(source, self._rules.source):
            del fields["source"]
        key = self._rules.metadata_key or ("metadata" if "metadata" in fields else "meta")
        own = fields.get(key)
        kind = "null" if own is None else kind_of(own)
        if own is not None and kind in ("object", "null"):
            del fields[key]
        if fields:
            merged = OBJECT.decode(own) if own is not None and kind == "object" else {}
            for name, value in fields.items():
                merged[free_key(name, merged)] = value
            encoded = msgspec.json.encode(merged)
        elif own is not None and kind == "object":
            encoded = bytes(own)
        else:
            return NO_METADATA
        return self.checked(encoded)

    def checked(self, metadata: bytes) -> msgspec.Raw:
        """A metadata object within the limits, on one line."""
        check_json(metadata, self._limits.nesting)
        # A carriage return between JSON tokens would end the line for readers with universal newlines.
        return msgspec.Raw(metadata.replace(b"\r", b" "))


def json_fields(values: dict[str, object]) -> Fields:
    """Values of typed columns in their JSON form: times as ISO 8601, bytes as base64, NaN and infinities as null."""
    return {key: msgspec.Raw(msgspec.json.encode(value, enc_hook=str)) for key, value in values.items()}
