"""Reads the conversation of a row: messages, which of them are learned, and further values for the template."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, Reads
from corpus_assets.tokenize.modes.chat.encoding import Talk
from corpus_assets.tokenize.modes.turns import TurnsError, conversation
from resources.formats.examples import Example, Messages, without_nulls

LEARNED_KEYS: Final = ("weight", "train", "loss")
"""Keys of a message that say whether it is learned, whatever its role."""
TOOLS: Final = "tools"
LIST_KEYS: Final = (TOOLS, "documents")
VALUE_KEYS: Final = ("template_values", "chat_template_kwargs")
"""Keys of a row with further values for the template."""
SYSTEM: Final = "system"
OF_MESSAGES: Final = "messages"
"""What stands before a key of a message where it is named beside keys of rows."""
_OF_EVERY_MESSAGE: Final = {"role", "content", *LEARNED_KEYS}
READ_KEYS: Final = frozenset({*LIST_KEYS, *VALUE_KEYS, SYSTEM})
INPUT_REASONS: Final = (
    "bad_weight",
    *("bad_tools", "bad_documents", "bad_template_values", "bad_system"),
)

_ROW = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Beside(NamedTuple):
    """What a row says beside its messages: values for the template, a text of the system, and what nothing reads.

    read: keys of messages that the template may read, None for all.
    """

    values: dict[str, Any]
    system: str | None
    unread: frozenset[str]
    read: frozenset[str] | None = None

    def before(self, messages: Messages) -> Messages:
        """Returns the messages that stand before those of the row: the system's, unless they begin with one."""
        return [{"role": SYSTEM, "content": self.system}] if self.system and messages[0]["role"] != SYSTEM else []

    def unread_with(self, messages: Messages) -> list[str]:
        """Returns the keys of the row that nothing reads if it has these messages, and those of its messages."""
        ignored = {SYSTEM} if self.system and not self.before(messages) else set()
        if self.read is not None:
            keys = {key for message in messages for key, value in message.items() if value is not None}
            ignored |= {f"{OF_MESSAGES}.{key}" for key in keys - self.read - _OF_EVERY_MESSAGE}
        return sorted(self.unread | ignored)


def talk_of(example: Example, read: Reads | None = None) -> tuple[Talk, list[str]]:
    """Returns the conversation of a row, and the keys of the row that nothing reads; read: as for `beside_of`.

    A message may have `weight`, `train` or `loss` (0, 1 or a boolean): whether it is learned. Keys without a value are
    left out of messages and of what a tool is called with, since tables fill them in.

    Raises TurnsError: `no_messages`, `no_role`, or one of `INPUT_REASONS`.
    """
    beside = beside_of(example, read)
    given = messages_without_nulls(conversation(example))
    learned = tuple(map(_learned, given))
    before = beside.before(given)
    messages = [*before, *given]
    return Talk(Dialogue(messages, beside.values), (*(None for _ in before), *learned)), beside.unread_with(given)


def beside_of(example: Example, read: Reads | None = None) -> Beside:
    """Returns what a row says beside its messages. read: what the template reads, None for all.

    A row may have `tools` and `documents` (a list, or JSON text of one; a tool may be JSON text of an object), `system`
    (a text, which becomes the first message unless there is such a message) and `template_values` or
    `chat_template_kwargs` (an object, or JSON text of one). Raises TurnsError: one of `INPUT_REASONS`.
    """
    if not example.metadata:
        return Beside({}, None, frozenset(), read and read.keys)
    row = _ROW.decode(example.metadata)
    lists = {key: given for key in LIST_KEYS if (given := _list(row, key)) is not None}
    objects = {key: _object(row, key) for key in VALUE_KEYS}
    unread = {key for key, given in row.items() if bytes(given) != b"null"} - READ_KEYS
    if read is not None:
        unread |= set(lists) - read.names
        unread |= {f"{key}.{name}" for key, values in objects.items() for name in values if name not in read.names}
    values = {name: value for given in (lists, *objects.values()) for name, value in given.items()}
    return Beside(values, _text(row, SYSTEM), frozenset(unread), read and read.keys)


def messages_without_nulls(messages: Messages) -> Messages:
    """Returns messages without the keys that have no value, at any depth, but for a content."""
    return [
        {key: without_nulls(value) for key, value in message.items() if value is not None or key == "content"}
        for message in messages
    ]


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
    return found and [without_nulls(_tool(item) if key == TOOLS else item) for item in found]


def _tool(given: Any) -> Any:
    """Returns a tool, or the object of its JSON text, since tables cannot hold tools of different forms as objects."""
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise TurnsError(_bad(TOOLS), f"one of the tools is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise TurnsError(_bad(TOOLS), f"the text of one of the tools is a {type(found).__name__}; valid: an object")
    return found


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
