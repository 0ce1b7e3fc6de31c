"""The example: one row of a dataset's own files (texts, fine-tuning, preferences) before it is tokenized."""

from typing import Any

import msgspec

from resources.formats.documents import NO_METADATA

Messages = list[dict[str, Any]]

DROPPED = "dropped"
"""Segment of a partition of examples: how many rows were dropped while reading, by reason."""


class Example(msgspec.Struct, omit_defaults=True):
    """One example, in one of five shapes; fields that do not belong to it are None.

    text: `text`. Pair: `prompt` and `completion`, strings. Exchange: the same, each a string or messages. Conversation:
    `messages`, a list of objects with at least `role` and `content` (chat templates may read more keys). Preference:
    `chosen` and `rejected`, each a string or messages, and `prompt`, a string, messages or None (then it is the
    beginning of both).
    `metadata` is a JSON object of all other values of the row.

    Three fields say where chunks of text begin and end; they are written only for datasets that pack by chunks
    (`packing_text`):
    part: number of the archive member or listed text that holds the row.
    skipped: number of bad rows before it in its part.
    size: bytes of its text, where its fields do not tell them.
    """

    id: str
    source: str
    text: str | None = None
    prompt: str | Messages | None = None
    completion: str | Messages | None = None
    messages: Messages | None = None
    chosen: str | Messages | None = None
    rejected: str | Messages | None = None
    metadata: msgspec.Raw = NO_METADATA
    part: int = 0
    skipped: int = 0
    size: int = 0


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Example)
_METADATA = msgspec.json.Decoder(dict[str, msgspec.Raw])


def example_bytes(example: Example) -> int:
    """Returns the UTF-8 bytes of an example's texts, without keys and metadata."""
    return sum(len(text.encode()) for text in example_texts(example))


def chunk_bytes(example: Example) -> int:
    """Returns the UTF-8 bytes of an example as Cerebras' Model Zoo counts them: keys of messages count too."""
    if example.size:
        return example.size
    if example.messages is None:
        return example_bytes(example)
    return sum(len(f"{key}{value}".encode()) for message in example.messages for key, value in message.items())


def example_texts(example: Example) -> list[str]:
    """Returns all texts of an example: its own, or those of its messages."""
    fields = (example.text, example.prompt, example.completion, example.messages, example.chosen, example.rejected)
    return [text for field in fields if field is not None for text in _texts(field)]


def example_roles(example: Example) -> list[str]:
    """Returns the role of every message of a conversation; those of a pair are user and assistant."""
    if example.messages is None:
        return ["user"] * bool(example.prompt) + ["assistant"] * bool(example.completion)
    return [role for message in example.messages if isinstance(role := message.get("role"), str)]


def preference_roles(example: Example) -> list[str]:
    """Returns the role of every message of a preference; none of parts that are texts."""
    sides = (example.prompt, example.completion, example.chosen, example.rejected)
    parts = (part for part in sides if isinstance(part, list))
    return [role for part in parts for message in part if isinstance(role := message.get("role"), str)]


def _texts(field: str | Messages) -> list[str]:
    """Returns a text, or the contents of messages; nothing for any other value, which a file may hold."""
    if isinstance(field, str):
        return [field]
    messages = (message for message in field if isinstance(message, dict)) if isinstance(field, list) else ()
    return [content for message in messages if isinstance(content := message.get("content"), str)]


def keys_beside(example: Example) -> list[str]:
    """Returns the keys that the row of an example has besides those it is made of, without those that hold null."""
    if example.metadata == NO_METADATA:
        return []
    return [key for key, value in _METADATA.decode(example.metadata).items() if bytes(value) != b"null"]


def without_nulls(value: Any) -> Any:
    """Returns a JSON value without the keys of objects, at any depth, that hold null: tables fill them in."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def encode_example(example: Example) -> bytes:
    """Returns an example as one JSON line, newline included, without the keys that have no value."""
    return _ENCODER.encode(example) + b"\n"


def decode_example(line: bytes) -> Example:
    """Returns the example of a JSON line; raises `msgspec.DecodeError` for anything that is not an example."""
    return _DECODER.decode(line)
