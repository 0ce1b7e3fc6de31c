"""A dataset's own files as examples: texts, pairs, conversations and preferences, in every input format."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from numbers import Number
from typing import Any, Final, Literal

import msgspec
from typing_extensions import override

from corpus_assets.config.datasets.files import Files, Shape
from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.config.datasets.text_exports import shape_read
from corpus_assets.raw.formats.names import resolve_format
from corpus_assets.raw.readers import DEFAULT_LIMITS, NO_OPTIONS, RawFile, read_rows
from corpus_assets.raw.rows.faults import BadRow, RowError, decode_error
from corpus_assets.raw.rows.json_values import (
    ANY,
    BLANK_LINE,
    OBJECT,
    STRING,
    Fields,
    holds_objects,
    is_zero,
    kind_of,
    lift,
    messages_value,
    names,
    text_value,
    utf8,
)
from corpus_assets.raw.rows.rules import FormatOptions, Limits, RowNames, SourceRules, json_fields, renamed
from corpus_assets.raw.rows.seen import of_dataset
from resources.errors import BadFileError
from resources.formats.examples import Example, Messages

__all__ = ["BadRow", "ExampleRules", "Limits", "RawFile", "Shape", "read_examples"]

_EXCHANGED: Final = ("prompt", "completion")
_NULL: Final = msgspec.Raw(b"null")

IN_CHUNKS: Final = "in_chunks"
"""The option that examples record where chunks of text may be cut."""

KEEPS_EMPTY: Final = "keeps_empty"
"""The option that a text may be empty."""

NOT_IN_JSON_LINES: Final = "not in JSON lines"
"""The value of that option for texts that may be empty where Cerebras allows it."""


@dataclass(frozen=True)
class ExampleRules(SourceRules):
    """How the rows of one dataset's files become examples.

    shape: text, pair, conversation or preference.
    files: names the keys of a row. Several prompt keys (instruction and input) are joined by a blank line, absent ones
        left out; a preference may have no prompt.
    roles_by_turn: messages may have no role; then user and assistant take turns.
    in_chunks: examples record where chunks of text may be cut.
    keeps_empty: a text may be empty, but not missing; or, as in Cerebras, only a string of a table, a bare string of a
        `json.gz` and a text file may be (docs/formats/cerebras-hdf5.md "Reading input").
    """

    shape: Shape = field(kw_only=True)
    files: Files = field(kw_only=True)
    roles_by_turn: bool = False
    in_chunks: bool = False
    keeps_empty: bool | Literal["not in JSON lines"] = False

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Returns the keys of a row that make an example."""
        return self.files.keys(self.shape)

    @property
    @override
    def content_keys(self) -> tuple[str, ...]:
        return self.keys

    @property
    def columns(self) -> Collection[str] | None:
        """Returns the columns of a table that are read; None is all, since others become metadata."""
        others = self.metadata_columns
        return None if others is None else {*self.keys, self.id_key, *others}

    @property
    def as_python(self) -> bool:
        """Returns whether numbers and booleans become texts as Python's `str` writes them."""
        return self.files.numbers == "python"

    @property
    def required(self) -> list[tuple[str, ...]]:
        """Returns groups of columns; a table needs one of each group."""
        if self.shape not in ("pair", "exchange", "preference"):
            return [self.keys]
        prompt = self.files.prompt_keys
        others: list[tuple[str, ...]] = [(key,) for key in self.keys[len(prompt) :]]
        return [prompt, *others] if self.shape != "preference" else others


def rules_of(mode: str, source: str, options: Mapping[str, Any], how: FormatOptions = NO_OPTIONS) -> ExampleRules:
    """Returns the rules by which a dataset reads its own files.

    options: its section `input`. how: the options of formats.
    """
    section, files = SECTIONS.get(mode), Files.model_construct(None, **options)
    shape, kept = shape_read(mode, files), options.get("metadata_keys")
    return ExampleRules(
        source,
        files.format,
        files.id_key,
        files.ids,
        options=how,
        metadata_keys=None if kept is None else tuple(kept),
        separator=options.get("text_separator", BLANK_LINE),
        seen=of_dataset(source, options, shape),
        shape=shape,
        files=files,
        roles_by_turn=section is not None and section.roles_by_turn,
        in_chunks=options.get(IN_CHUNKS, False),
        keeps_empty=options.get(KEEPS_EMPTY, False),
    )


def has_messages(mode: str, options: Mapping[str, Any]) -> bool:
    """Returns whether the rows of a dataset's own files may hold messages."""
    return shape_read(mode, Files.model_construct(None, **options)) in ("conversation", "exchange", "preference")


def read_examples(file: RawFile, rules: ExampleRules, limits: Limits = DEFAULT_LIMITS) -> Iterator[Example | BadRow]:
    """Yields examples and bad rows of a file in reading order; ids and faults are those of `read_documents`.

    A value that is missing, null, an empty string or an empty list is absent (docs/formats/cerebras-hdf5.md "Reading
    input", "Defect: missing values", "Defect: text files and json.gz"): the row is bad (`no_prompt`, `empty_prompt`),
    and no other row is touched. Numbers become their JSON text, lists of strings are joined by a blank line; anything
    else is `prompt_not_text`. Messages: see `json_values.messages_value`. A line may be a bare JSON string, which is a
    text; a text file is one text, and a `BadFileError` in another shape; bare strings of a `json.gz` are stripped.
    Everything else in a row goes to its metadata.
    """
    strips = resolve_format(file.name, rules.format).rows == "json"
    new_reader = partial(ExampleReader, rules, limits, strips=strips)
    yield from read_rows(file, rules.format, limits, new_reader, bare_strings=True, options=rules.options)


class ExampleReader:
    """Builds the examples of one raw file in reading order (a `RowParser`)."""

    def __init__(self, rules: ExampleRules, limits: Limits, *, strips: bool = False) -> None:
        self._strips = strips
        self.required: Sequence[Sequence[str]] = rules.required
        self.places = rules.seen.places
        self.textual: Sequence[str] = ()
        self.columns: Collection[str] | None = rules.columns
        self.empty_files = rules.keeps_empty == NOT_IN_JSON_LINES
        self._rules = rules
        self._nesting = limits.nesting
        self._names = RowNames(rules, limits)

    def begin_part(self, number: int) -> None:
        """Notes that the next rows lie in another part of the file."""
        self._names.begin_part(number)

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Example:
        """Returns the example of one JSON line; None is a line over the limit. Derived ids begin with `place`."""
        line = self._names.next_line(line)
        try:
            if bare_strings and self._rules.shape == "text" and line.lstrip().startswith(b'"'):
                text = STRING.decode(line)
                return self._text(text.strip() if self._strips else text, place, keep=self._strips)
            fields = OBJECT.decode(line)
            lift(fields, self._names.nested)
            return self._example(fields, place)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise decode_error(line, fault) from None

    def from_values(self, values: dict[str, object], place: str) -> Example:
        """Returns the example of one row of typed columns, equal to that of their JSON form.

        Bytes under the shape's own keys are UTF-8 text.
        """
        self._names.next_values(values)
        own = {key: self._column_value(values[key]) for key in self._rules.keys if key in values}
        return self._example(json_fields(values | own), place, keep=True)

    def _column_value(self, value: object) -> object:
        return str(value) if self._rules.as_python and isinstance(value, Number) else utf8(value)

    def from_text(self, text: str, place: str) -> Example:
        """Returns the example of a text without other values; all line ends become LF."""
        if self._rules.shape != "text":
            raise BadFileError(place, f"a text file holds no {self._rules.shape}; valid: shape text")
        self._names.next_row()
        return self._text(text.replace("\r\n", "\n").replace("\r", "\n"), place, keep=True)

    def from_record(self, values: dict[str, object], place: str) -> Example:
        """Returns the example of a text under the key `text`, with its id under `id`, and further values."""
        if self._rules.shape != "text":
            raise BadFileError(place, f"a WARC file holds no {self._rules.shape}; valid: shape text")
        return self.from_values(renamed(values, text=self._rules.keys[0], id=self._rules.id_key), place)

    def _keeps_empty(self, *, keep: bool) -> bool:
        """Returns whether a text may be empty. keep: whether it may in Cerebras."""
        kept = self._rules.keeps_empty
        return keep if kept == NOT_IN_JSON_LINES else kept

    def _text(self, text: str, place: str, *, keep: bool) -> Example:
        self._rules.seen.row({})
        if not text and not self._keeps_empty(keep=keep):
            raise RowError("empty_text", "the text is empty")
        return self._made(self._names.take_id({}), place, text=text)

    def _example(self, fields: Fields, place: str, *, keep: bool = False) -> Example:
        """Returns the example of a row's values; takes those of the shape from `fields`, the rest is metadata."""
        self._rules.seen.row(fields)
        given = self._names.take_id(fields)
        content = self._content(fields, keep=keep)
        metadata = self._names.metadata({key: value for key, value in fields.items() if key not in self._rules.keys})
        if self._rules.in_chunks and self._rules.shape == "conversation":
            content["size"] = value_bytes(ANY.decode(fields[self._rules.keys[0]]))
        return self._made(given, place, **content, metadata=metadata)

    def _made(self, given: str | None, place: str, **content: Any) -> Example:
        if self._rules.in_chunks:
            content |= {"part": self._names.part, "skipped": self._names.skipped}
        return Example(self._names.settle(given, place), self._rules.source, **content)

    def _content(self, fields: Fields, *, keep: bool) -> dict[str, Any]:
        shape, keys = self._rules.shape, self._rules.keys
        if shape == "text":
            return {"text": self._whole_text(fields, keep=keep)}
        if shape == "pair":
            return {
                "prompt": self._required_text(fields, "prompt", keys[:-1]),
                "completion": self._required_text(fields, "completion", keys[-1:]),
            }
        if shape == "exchange":
            return {name: self._response(fields, name, key) for name, key in zip(_EXCHANGED, keys, strict=True)}
        if shape == "conversation":
            if kind_of(fields.get(keys[0], _NULL)) == "null":
                raise _absent(fields, "messages", keys)
            return {"messages": self._messages(fields, "messages", keys[0])}
        return self._preference(fields)

    def _whole_text(self, fields: Fields, *, keep: bool) -> str:
        keys = self._rules.keys
        text = self._optional_text(fields, "text", keys)
        if text is None:
            fault = _absent(fields, "text", keys)
            if fault.reason != "empty_text" or not self._keeps_empty(keep=keep and holds_string(fields, keys)):
                raise fault
        return text or ""

    def _preference(self, fields: Fields) -> dict[str, Any]:
        files = self._rules.files
        chosen = self._response(fields, "chosen", files.chosen_key)
        rejected = self._response(fields, "rejected", files.rejected_key)
        if type(chosen) is not type(rejected):
            raise RowError(
                "mixed_responses", "chosen and rejected are a text and messages; valid: both texts, or both messages"
            )
        return {"prompt": self._preference_prompt(fields), "chosen": chosen, "rejected": rejected}

    def _preference_prompt(self, fields: Fields) -> str | Messages | None:
        keys = self._rules.files.prompt_keys
        if len(keys) == 1 and holds_objects(fields.get(keys[0])):
            return self._messages(fields, "prompt", keys[0])
        return self._optional_text(fields, "prompt", keys)

    def _response(self, fields: Fields, name: str, key: str) -> str | Messages:
        if holds_objects(fields.get(key)):
            return self._messages(fields, name, key)
        return self._required_text(fields, name, (key,))

    def _messages(self, fields: Fields, name: str, key: str) -> Messages:
        keys = (self._rules.files.role_key, self._rules.files.content_key)
        self._rules.seen.messages(fields[key])
        by_turn = self._rules.roles_by_turn
        place, as_python = f"key {key!r}", self._rules.as_python
        found = messages_value(fields[key], place, keys, self._nesting, roles_by_turn=by_turn, as_python=as_python)
        if not found:
            raise RowError(f"empty_{name}", f"key {key!r} holds an empty list")
        return found

    def _required_text(self, fields: Fields, name: str, keys: Sequence[str]) -> str:
        text = self._optional_text(fields, name, keys)
        if text is None:
            raise _absent(fields, name, keys)
        return text

    def _optional_text(self, fields: Fields, name: str, keys: Sequence[str]) -> str | None:
        """Returns the texts under the keys, joined by a blank line; None when all are absent or empty."""
        as_python = self._rules.as_python
        given = {key: fields[key] for key in keys if key in fields and not (as_python and is_zero(fields[key]))}
        texts = (text_value(raw, name, f"key {key!r}", as_python=as_python) for key, raw in given.items())
        separator = self._rules.separator if self._rules.shape == "text" else BLANK_LINE
        return separator.join(text for text in texts if text) or None


def holds_string(fields: Fields, keys: Sequence[str]) -> bool:
    """Returns whether a string stands under one of the keys."""
    return any(kind_of(fields[key]) == "string" for key in keys if key in fields)


def value_bytes(value: object) -> int:
    """Returns the bytes of a JSON value as Cerebras' Model Zoo counts them for its chunks: keys, texts and numbers."""
    if isinstance(value, dict):
        return sum(value_bytes(key) + value_bytes(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(value_bytes, value))
    return len(str(value).encode())


def _absent(fields: Fields, name: str, keys: Sequence[str]) -> RowError:
    """Returns the error for a value that is empty, null or missing."""
    wanted = " or ".join(map(repr, keys))
    held = [kind_of(fields[key]) for key in keys if key in fields]
    if set(held) - {"null"}:
        return RowError(f"empty_{name}", f"key {wanted} holds nothing")
    if held:
        return RowError(f"no_{name}", f"key {wanted} holds null")
    return RowError(f"no_{name}", f"no key {wanted}; the row has {names(fields)}")
