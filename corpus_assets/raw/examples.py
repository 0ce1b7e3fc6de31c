"""A dataset's own files as examples: texts, pairs, conversations and preferences, in every input format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, get_args

import msgspec

from corpus_assets.raw.faults import BadRow, RowError, decode_error
from corpus_assets.raw.formats import resolve_format
from corpus_assets.raw.json_values import (
    BLANK_LINE,
    OBJECT,
    STRING,
    Fields,
    holds_objects,
    kind_of,
    messages_value,
    names,
    text_value,
    utf8,
)
from corpus_assets.raw.readers import DEFAULT_LIMITS, RawFile, read_rows
from corpus_assets.raw.rules import Limits, RowNames, SourceRules, json_fields
from resources.errors import BadFileError, ConfigError
from resources.formats.examples import Example, Messages

__all__ = ["BadRow", "ExampleRules", "Limits", "RawFile", "Shape", "read_examples"]

Shape = Literal["text", "pair", "conversation", "preference"]
_NULL: Final = msgspec.Raw(b"null")


@dataclass(frozen=True)
class ExampleRules(SourceRules):
    """How the rows of one source become examples of one shape.

    text: `text_key`. pair: `prompt_key` and `completion_key`. conversation: `messages_key`. preference: `chosen_key`,
    `rejected_key` and, where a row has one, `prompt_key`. Several prompt keys (instruction and input) are joined by a
    blank line, absent ones left out. `role_key` and `content_key` are those of a message. `roles_by_turn` True lets
    messages have no role: they are user and assistant by turns.
    """

    shape: Shape = "text"
    text_key: str = "text"
    prompt_key: str | tuple[str, ...] = "prompt"
    completion_key: str = "completion"
    messages_key: str = "messages"
    role_key: str = "role"
    content_key: str = "content"
    chosen_key: str = "chosen"
    rejected_key: str = "rejected"
    roles_by_turn: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape not in get_args(Shape):
            raise ConfigError(f"shape is {self.shape!r}; valid: {', '.join(get_args(Shape))}")
        if self.shape == "pair" and not self.prompt_keys:
            raise ConfigError("prompt_key names no key; valid: one key, or several")
        groups = [[*self.keys, self.id_key, self.metadata_key or "metadata"], [self.role_key, self.content_key]]
        for keys in groups:
            if "" in keys or len(set(keys)) < len(keys):
                raise ConfigError(f"keys are {', '.join(map(repr, keys))}; valid: non-empty, each one used once")

    @property
    def prompt_keys(self) -> tuple[str, ...]:
        """The prompt keys as a tuple."""
        return (self.prompt_key,) if isinstance(self.prompt_key, str) else tuple(self.prompt_key)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of a row that the shape takes."""
        return {
            "text": (self.text_key,),
            "pair": (*self.prompt_keys, self.completion_key),
            "conversation": (self.messages_key,),
            "preference": (*self.prompt_keys, self.chosen_key, self.rejected_key),
        }[self.shape]

    @property
    def required(self) -> list[tuple[str, ...]]:
        """Groups of columns; a table needs one of each group."""
        has_prompt = self.shape in ("pair", "preference")
        others = self.keys[len(self.prompt_keys) :] if has_prompt else self.keys
        prompt = [self.prompt_keys] if self.shape == "pair" else []
        return prompt + [(key,) for key in others]


_BY_MODE: dict[str, Shape] = {"lm": "text", "lm_vsl": "text", "fim": "text", "dpo": "preference"}


def rules_of(mode: str, source: str, files: Mapping[str, Any]) -> ExampleRules:
    """The rules by which a dataset reads files of its own. files: what `corpus.yaml` says of them."""
    shape = _BY_MODE.get(mode) or ("pair" if files["messages_key"] is None else "conversation")
    prompt = files["prompt_key"]
    return ExampleRules(
        source=source,
        shape=shape,
        roles_by_turn=mode.startswith("summarization"),
        prompt_key=prompt if isinstance(prompt, str) else tuple(prompt),
        messages_key=files["messages_key"] or "messages",
        **{key: files[key] for key in _AS_GIVEN},
    )


_AS_GIVEN = (
    "format",
    "id_key",
    "ids",
    "text_key",
    "completion_key",
    "role_key",
    "content_key",
    "chosen_key",
    "rejected_key",
)


def read_examples(file: RawFile, rules: ExampleRules, limits: Limits = DEFAULT_LIMITS) -> Iterator[Example | BadRow]:
    """Examples and bad rows of a file in reading order, one at a time; ids and faults as `read_documents` has them.

    A value that is missing, null, an empty string or an empty list is absent
    (docs/formats/cerebras-hdf5.md "Reading input", "Defect: missing values",
    "Defect: text files and json.gz"):
    the row is bad (`no_prompt`, `empty_prompt`), and no other row is touched. Numbers become
    their JSON text, lists of strings are joined by a blank line; anything else is `prompt_not_text`. Messages are
    described at `values.messages_value`. A line may be a bare JSON string, which is a text; a text file is one text,
    and a `BadFileError` in another shape; bare strings of a `json.gz` are stripped. All else that a row holds goes to
    its metadata.
    """
    strips = resolve_format(file.name, rules.format) == "json.gz"
    new_reader = partial(ExampleReader, rules, limits, strips=strips)
    yield from read_rows(file, rules.format, limits, new_reader, bare_strings=True)


class ExampleReader:
    """Builds the examples of one raw file in reading order (a `RowParser`)."""

    def __init__(self, rules: ExampleRules, limits: Limits, *, strips: bool = False) -> None:
        self._strips = strips
        self.required: Sequence[Sequence[str]] = rules.required
        self.textual: Sequence[str] = ()
        self._rules = rules
        self._nesting = limits.nesting
        self._names = RowNames(rules, limits)

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Example:
        """Example of one JSON line; None stands for a line over the limit. Derived ids begin with `place`."""
        line = self._names.next_line(line)
        try:
            if bare_strings and self._rules.shape == "text" and line.lstrip().startswith(b'"'):
                text = STRING.decode(line)
                return self._text(text.strip() if self._strips else text, place)
            return self._example(OBJECT.decode(line), place)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise decode_error(line, fault) from None

    def from_values(self, values: dict[str, object], place: str) -> Example:
        """Example of one row of typed columns, as it would be from their JSON form.

        Bytes under the shape's own keys are UTF-8 text.
        """
        self._names.next_values(values)
        own = {key: utf8(values[key]) for key in self._rules.keys if key in values}
        return self._example(json_fields(values | own), place)

    def from_text(self, text: str, place: str) -> Example:
        """Example of a text that comes with nothing else; its lines end in LF, whatever they ended in."""
        if self._rules.shape != "text":
            raise BadFileError(place, f"a text file holds no {self._rules.shape}; valid: shape text")
        self._names.next_row()
        return self._text(text.replace("\r\n", "\n").replace("\r", "\n"), place)

    def _text(self, text: str, place: str) -> Example:
        if not text:
            raise RowError("empty_text", "the text is empty")
        given = self._names.take_id({})
        return Example(self._names.settle(given, place), self._rules.source, text=text)

    def _example(self, fields: Fields, place: str) -> Example:
        """The example of a row's values; its own ones are taken out of `fields`, the rest is metadata."""
        given = self._names.take_id(fields)
        content = self._content(fields)
        metadata = self._names.metadata({key: value for key, value in fields.items() if key not in self._rules.keys})
        return Example(self._names.settle(given, place), self._rules.source, **content, metadata=metadata)

    def _content(self, fields: Fields) -> dict[str, Any]:
        rules = self._rules
        if rules.shape == "text":
            return {"text": _required_text(fields, "text", (rules.text_key,))}
        if rules.shape == "pair":
            return {
                "prompt": _required_text(fields, "prompt", rules.prompt_keys),
                "completion": _required_text(fields, "completion", (rules.completion_key,)),
            }
        if rules.shape == "conversation":
            if kind_of(fields.get(rules.messages_key, _NULL)) == "null":
                raise _absent(fields, "messages", (rules.messages_key,))
            return {"messages": self._messages(fields, "messages", rules.messages_key)}
        return self._preference(fields)

    def _preference(self, fields: Fields) -> dict[str, Any]:
        rules = self._rules
        chosen = self._response(fields, "chosen", rules.chosen_key)
        rejected = self._response(fields, "rejected", rules.rejected_key)
        if type(chosen) is not type(rejected):
            raise RowError(
                "mixed_responses", "chosen and rejected are a text and messages; valid: both texts, or both messages"
            )
        return {"prompt": self._preference_prompt(fields), "chosen": chosen, "rejected": rejected}

    def _preference_prompt(self, fields: Fields) -> str | Messages | None:
        keys = self._rules.prompt_keys
        if len(keys) == 1 and holds_objects(fields.get(keys[0])):
            return self._messages(fields, "prompt", keys[0])
        return _optional_text(fields, "prompt", keys)

    def _response(self, fields: Fields, name: str, key: str) -> str | Messages:
        if holds_objects(fields.get(key)):
            return self._messages(fields, name, key)
        return _required_text(fields, name, (key,))

    def _messages(self, fields: Fields, name: str, key: str) -> Messages:
        keys = (self._rules.role_key, self._rules.content_key)
        by_turn = self._rules.roles_by_turn
        found = messages_value(fields[key], f"key {key!r}", keys, self._nesting, roles_by_turn=by_turn)
        if not found:
            raise RowError(f"empty_{name}", f"key {key!r} holds an empty list")
        return found


def _required_text(fields: Fields, name: str, keys: Sequence[str]) -> str:
    text = _optional_text(fields, name, keys)
    if text is None:
        raise _absent(fields, name, keys)
    return text


def _optional_text(fields: Fields, name: str, keys: Sequence[str]) -> str | None:
    """Texts under the keys, joined by a blank line; None when all are absent or empty."""
    texts = (text_value(fields.get(key), name, f"key {key!r}") for key in keys)
    return BLANK_LINE.join(text for text in texts if text) or None


def _absent(fields: Fields, name: str, keys: Sequence[str]) -> RowError:
    """Why there is no value: it is empty, null, or no key of the row."""
    wanted = " or ".join(map(repr, keys))
    held = [kind_of(fields[key]) for key in keys if key in fields]
    if set(held) - {"null"}:
        return RowError(f"empty_{name}", f"key {wanted} holds nothing")
    if held:
        return RowError(f"no_{name}", f"key {wanted} holds null")
    return RowError(f"no_{name}", f"no key {wanted}; the row has {names(fields)}")
