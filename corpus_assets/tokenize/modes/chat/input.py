"""Reads the conversation of a row: messages, which of them are learned, and further values for the template."""

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from corpus_assets.tokenize.modes.chat.encoding import Talk
from corpus_assets.tokenize.modes.chat.template import Dialogue
from corpus_assets.tokenize.modes.turns import TurnsError, conversation
from resources.formats.examples import Example, Messages

LEARNED_KEYS: Final = ("weight", "train", "loss")
"""Keys of a message that say whether it is learned, whatever its role."""
LIST_KEYS: Final = ("tools", "documents")
VALUE_KEYS: Final = ("template_values", "chat_template_kwargs")
"""Keys of a row with further values for the template."""
SYSTEM: Final = "system"
READ_KEYS: Final = frozenset({*LIST_KEYS, *VALUE_KEYS, SYSTEM})
INPUT_REASONS: Final = (
    *("part_not_text", "bad_weight"),
    *("bad_tools", "bad_documents", "bad_template_values", "bad_system"),
)

_ROW = msgspec.json.Decoder(dict[str, msgspec.Raw])


def talk_of(example: Example) -> tuple[Talk, tuple[str, ...]]:
    """Returns the conversation of a row, and the keys of the row that nothing reads.

    A row may have `tools` and `documents` (a list, or JSON text of one), `system` (a text, which becomes the first
    message unless there is such a message) and `template_values` or `chat_template_kwargs` (an object, or JSON text of
    one). A message may have `weight`, `train` or `loss` (0, 1 or a boolean): whether it is learned. Contents that are
    lists of texts are joined. Keys without a value are left out of messages and of what a tool is called with, since
    tables fill them in.

    Raises TurnsError: `no_messages`, `no_role`, or one of `INPUT_REASONS`.
    """
    row = _row(example)
    messages = [_message(message) for message in conversation(example)]
    learned = tuple(_learned(message) for message in messages)
    values = _values(row)
    unread = set(row) - READ_KEYS
    if (system := _text(row, SYSTEM)) is not None:
        if messages[0]["role"] == SYSTEM:
            unread.add(SYSTEM)
        else:
            messages, learned = [{"role": SYSTEM, "content": system}, *messages], (None, *learned)
    return Talk(Dialogue(messages, values), learned), tuple(sorted(unread))


def template_values_of(example: Example) -> dict[str, Any]:
    """Returns the values of a row for the template besides the messages; raises TurnsError like `talk_of`."""
    return _values(_row(example))


def _row(example: Example) -> dict[str, msgspec.Raw]:
    return _ROW.decode(example.metadata) if example.metadata else {}


def _values(row: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    values: dict[str, Any] = {key: given for key in LIST_KEYS if (given := _list(row, key)) is not None}
    for key in VALUE_KEYS:
        values |= _object(row, key)
    return values


def _message(given: Mapping[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in given.items() if value is not None or key == "content"}
    if isinstance(content := message.get("content"), list):
        message["content"] = "".join(_part(part) for part in content)
    if isinstance(calls := message.get("tool_calls"), list):
        message["tool_calls"] = [_without_nulls(call) for call in calls]
    return message


def _part(part: Any) -> str:
    """Returns the text of a part of a content."""
    if isinstance(part, str):
        return part
    kind = part.get("type", "text") if isinstance(part, Mapping) else type(part).__name__
    if kind == "text" and isinstance(text := part.get("text"), str):
        return text
    raise TurnsError("part_not_text", f"a content has a part of type {kind!r}; valid: text")


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _learned(message: dict[str, Any]) -> bool | None:
    """Removes from a message the key that states whether it is learned; None without one."""
    said = {key: message.pop(key) for key in LEARNED_KEYS if key in message}
    for key, value in said.items():
        if value not in (0, 1):
            raise TurnsError("bad_weight", f"{key} of a message is {value!r}; valid: 0, 1, true, false")
    return all(said.values()) if said else None


def _value(row: Mapping[str, msgspec.Raw], key: str) -> Any:
    """Returns a value, or the value of its JSON text; None without one."""
    given = msgspec.json.decode(row[key]) if key in row else None
    if isinstance(given, str) and given.strip():
        try:
            return json.loads(given)
        except (ValueError, RecursionError) as error:
            raise TurnsError(_bad(key), f"{key} is no JSON: {error}") from None
    return given or None


def _list(row: Mapping[str, msgspec.Raw], key: str) -> list[Any] | None:
    found = _value(row, key)
    if found is not None and not isinstance(found, list):
        raise TurnsError(_bad(key), f"{key} is a {type(found).__name__}; valid: a list, or JSON text of one")
    return found and [_without_nulls(item) for item in found]


def _object(row: Mapping[str, msgspec.Raw], key: str) -> dict[str, Any]:
    found = _value(row, key)
    if found is not None and not isinstance(found, dict):
        raise TurnsError(_bad(key), f"{key} is a {type(found).__name__}; valid: an object, or JSON text of one")
    return found or {}


def _text(row: Mapping[str, msgspec.Raw], key: str) -> str | None:
    found = msgspec.json.decode(row[key]) if key in row else None
    if found is not None and not isinstance(found, str):
        raise TurnsError(_bad(key), f"{key} is a {type(found).__name__}; valid: a text")
    return found or None


def _bad(key: str) -> str:
    return "bad_template_values" if key in VALUE_KEYS else f"bad_{key}"


def first_system(messages: Messages) -> int:
    """Returns where the messages after those of the system begin."""
    return next((n for n, message in enumerate(messages) if message["role"] != SYSTEM), len(messages))
