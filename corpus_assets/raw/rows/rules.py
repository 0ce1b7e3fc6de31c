"""Rules for rows of every shape: limits, ids that are given or derived, and metadata from all other values."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeVar, get_args

import msgspec

from corpus_assets.raw.rows.faults import RowError, check_json
from corpus_assets.raw.rows.json_values import (
    BLANK_LINE,
    OBJECT,
    STRING,
    Fields,
    free_key,
    kind_of,
    says_nothing,
    utf8,
)
from corpus_assets.raw.rows.paths import kept, lift_values, with_dots
from corpus_assets.raw.rows.seen import Seen
from resources.errors import ConfigError
from resources.formats.codecs import FREE_BYTES, RATIO, ZSTD_WINDOW_BYTES
from resources.formats.documents import NO_METADATA

Ids = Literal["auto", "given", "derived", "optional"]
Built_co = TypeVar("Built_co", covariant=True)

_INTEGER: Final = re.compile(rb"-?[0-9]+")


@dataclass(frozen=True)
class FormatOptions:
    """How files of single formats are read.

    delimiter: between the columns of CSV; None is a tab in `.tsv` and a comma otherwise.
    quote: around values of CSV that hold delimiters or line ends; None if no character does that.
    columns: names of the columns of CSV without a header.
    extractors: what takes the main text out of HTML, one after another.
    least: characters that one must find, else the next one is asked.
    form: of the text of web pages, `text` or `markdown`.
    seconds: of CPU time that a page may take to extract; None for no limit.
    escape: character of CSV that makes a quote, delimiter or line end after it part of a value; None if no character
        does that.
    window: see `Limits`.
    """

    delimiter: str | None = None
    quote: str | None = '"'
    columns: tuple[str, ...] | None = None
    extractors: tuple[str, ...] = ()
    escape: str | None = None
    window: int = ZSTD_WINDOW_BYTES
    least: int = 1
    form: str = "text"
    seconds: float | None = None


@dataclass(frozen=True)
class SourceRules:
    """The rules for ids and metadata of the rows of one source.


    ids: `given` requires an id in every row; `derived` makes one from file and row for every row; `optional` makes one
        for every row without a valid one; `auto` follows the first good row of each file: if it has an id, rows without
        one are bad; if not, rows without one get a derived id.
    metadata_key: None means `metadata`, or `meta` if a row has no `metadata`.
    metadata_keys: keys of the metadata that are kept; None means all. Their dots lead into objects.
    separator: between the texts of several keys, and of a list.
    seen: counts which configured keys were found.
    """

    source: str
    format: str = "auto"
    id_key: str = "id"
    ids: Ids = "auto"
    metadata_key: str | None = None
    options: FormatOptions = FormatOptions()
    metadata_keys: tuple[str, ...] | None = field(default=None, kw_only=True)
    separator: str = field(default=BLANK_LINE, kw_only=True)
    seen: Seen = field(default_factory=lambda: Seen({}), compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.ids not in get_args(Ids):
            raise ConfigError(f"ids is {self.ids!r}; valid: {', '.join(get_args(Ids))}")

    @property
    def content_keys(self) -> tuple[str, ...]:
        """The keys of a row that make its content."""
        return ()

    @property
    def metadata_columns(self) -> Collection[str] | None:
        """The columns that metadata are made of; None is all that are no content."""
        if self.metadata_keys is None:
            return None
        usual = ("metadata", "meta") if self.metadata_key is None else (self.metadata_key,)
        return {"added", "created", *usual, *self.metadata_keys}


@dataclass(frozen=True)
class Limits:
    """Limits for raw files.


    line_bytes: bytes of one line, or of one whole text file.
    nesting: depth of lists and objects in metadata, less than the JSON parsers of this project and of its readers
        allow.
    ratio: decompressed to compressed size, for more than `free_bytes` of decompressed bytes (gzip never exceeds 1032).
    window: bytes of the largest window that a compressed file may need to be read.
    """

    line_bytes: int = 256 << 20
    nesting: int = 256
    ratio: int = RATIO
    free_bytes: int = FREE_BYTES
    window: int = ZSTD_WINDOW_BYTES

    def decompressed(self, compressed_bytes: int) -> int:
        """Returns the number of bytes that a compressed stream of this size may decompress to."""
        return max(self.free_bytes, compressed_bytes * self.ratio)


class RowParser(Protocol[Built_co]):
    """Turns the raw rows of one file, in reading order, into documents or examples.

    required: groups of columns; a table needs one of each group.
    places: where corpus.yaml gives the name of a column, if it does.
    textual: columns that must hold text.
    columns: those that are used, so that others need not be read; None is all.
    empty_files: whether a text file without content is a row. Every method raises `RowError` for a bad row.
    """

    required: Sequence[Sequence[str]]
    places: Mapping[str, str]
    textual: Sequence[str]
    columns: Collection[str] | None
    empty_files: bool

    def begin_part(self, number: int) -> None:
        """Notes that the next rows lie in another part of the file: an archive member, or a listed text."""

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Built_co:
        """Returns the content of one JSON line; None is a line over the limit. Derived ids begin with `place`."""

    def from_values(self, values: dict[str, object], place: str) -> Built_co:
        """Returns the content of one row of typed columns; a value may be the `RowError` of its conversion."""

    def from_text(self, text: str, place: str) -> Built_co:
        """Returns the content of a text without other values."""

    def from_record(self, values: dict[str, object], place: str) -> Built_co:
        """Returns the content of a text under the key `text`, with further values; a value may be a `RowError`."""


def missing_column(parser: RowParser[Built_co], columns: Collection[str]) -> str | None:
    """Returns in words the first required column that a table lacks, with the option that names it."""
    for group in parser.required:
        if not set(group) & set(columns):
            places = dict.fromkeys(parser.places[name] for name in group if name in parser.places)
            return f"no column {' or '.join(map(repr, group))}" + (f" ({', '.join(places)})" if places else "")
    return None


class RowNames:
    """Counts the rows of one raw file, good and bad; gives the good ones their ids and their metadata.

    part: number of the archive member or listed text that the rows lie in.
    nested: configured keys with dots, whose values `lift` and `lift_values` bring to the top.
    """

    def __init__(self, rules: SourceRules, limits: Limits) -> None:
        self._rules = rules
        self._limits = limits
        self.part = 0
        self.nested = with_dots([*rules.content_keys, rules.id_key, rules.metadata_key])
        self._row = -1
        self._first = self._good = 0  # first row of the part, and its good rows
        self._id_required: bool | None = {"auto": None, "given": True, "derived": False, "optional": False}[rules.ids]

    def begin_part(self, number: int) -> None:
        """Notes that the next rows lie in part `number` of the file."""
        self.part, self._first, self._good = number, self._row + 1, 0

    @property
    def skipped(self) -> int:
        """Returns the bad rows of this part before the present row."""
        return self._row - self._first - self._good

    def next_row(self) -> None:
        """Counts a row, good or bad."""
        self._row += 1

    def next_line(self, line: bytes | None) -> bytes:
        """Counts and returns a row of JSON lines; raises `RowError` for None, which is a line over the limit."""
        self.next_row()
        if line is None:
            raise RowError("line_too_long", f"over the limit of {self._limits.line_bytes} bytes (`longest_row`)")
        return line

    def next_values(self, values: dict[str, object]) -> None:
        """Counts a row of typed columns, and turns an id of UTF-8 bytes into text; a null id counts as missing.

        Raises the `RowError` that replaces a value, or one for an id that is not UTF-8.
        """
        self.next_row()
        for value in values.values():
            if isinstance(value, RowError):
                raise value
        lift_values(values, self.nested)
        given = values.pop(self._rules.id_key, None)
        if given is not None:
            values[self._rules.id_key] = utf8(given)

    def take_id(self, fields: Fields) -> str | None:
        """Removes the row's own id from `fields` and returns it; None if an id must be derived.

        With `optional`, an invalid id stays in `fields`.
        """
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
        if self._rules.ids == "optional":
            fields[self._rules.id_key] = raw
            return None
        raise RowError("bad_id", f"key {self._rules.id_key!r} holds {kind}; valid: non-empty string, integer")

    def settle(self, given: str | None, place: str) -> str:
        """Returns the id of a row without other faults; the first such row of a file decides whether all need one."""
        if self._id_required is None:
            self._id_required = given is not None
        self._good += 1
        if given is not None:
            return given
        self._rules.seen.derived_ids += 1
        return f"{place}:{self._row}"

    def metadata(self, fields: Fields) -> msgspec.Raw:
        """Returns the metadata with all other `fields` merged in, without a `source` equal to the configured one.

        If the object has a key already, underscores are appended until the key is free. Metadata without other fields
        keeps its bytes; metadata that is not an object or null is merged in like any other field.
        """
        source = fields.get("source")
        if source is not None and says_nothing(source, self._rules.source):
            del fields["source"]
        key = self._rules.metadata_key or ("metadata" if "metadata" in fields else "meta")
        own = fields.get(key)
        kind = "null" if own is None else kind_of(own)
        if own is not None and kind in ("object", "null"):
            del fields[key]
        if fields or self._rules.metadata_keys is not None:
            merged = OBJECT.decode(own) if own is not None and kind == "object" else {}
            for name, value in fields.items():
                merged[free_key(name, merged)] = value
            chosen = self._chosen(merged)
            if not chosen:
                return NO_METADATA
            encoded = msgspec.json.encode(chosen)
        elif own is not None and kind == "object":
            encoded = bytes(own)
        else:
            return NO_METADATA
        return self.checked(encoded)

    def _chosen(self, metadata: Fields) -> Fields:
        """Returns the metadata that the source keeps."""
        keys = self._rules.metadata_keys
        if keys is None:
            return metadata
        self._rules.seen.metadata(metadata)
        return kept(metadata, keys)

    def checked(self, metadata: bytes) -> msgspec.Raw:
        """Returns a metadata object on one line; raises an error if it exceeds the limits."""
        check_json(metadata, self._limits.nesting)
        # A carriage return between JSON tokens would end the line for readers with universal newlines.
        return msgspec.Raw(metadata.replace(b"\r", b" "))


def json_fields(values: dict[str, object]) -> Fields:
    """Returns values of typed columns as JSON: times as ISO 8601, bytes as base64, NaN and infinities as null."""
    return {key: msgspec.Raw(msgspec.json.encode(value, enc_hook=str)) for key, value in values.items()}


def renamed(values: dict[str, object], **names: str) -> dict[str, object]:
    """Returns values under other names, in the same order: `renamed(values, text="body")`."""
    return {names.get(key, key): value for key, value in values.items()}
