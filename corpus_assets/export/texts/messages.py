"""Conversations as trainers that apply a chat template read them: messages, tools, and preferences of both."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from corpus_assets.export.texts.refused import RefusedError
from resources.formats.examples import Example, Messages, without_nulls

Metadata = Mapping[str, msgspec.Raw]

SYSTEM, TOOLS, CALLS = "system", "tools", "tool_calls"
READ: Final = frozenset({SYSTEM, TOOLS})
"""Keys of a row that are read besides its messages."""
_CALL, _FUNCTION = frozenset({"id", "type", "function"}), frozenset({"name", "arguments"})


def conversation(example: Example, row: Metadata) -> dict[str, Any]:
    """Returns `messages`, and `tools` if the row has any; a `system` text of the row becomes the first message."""
    return {"messages": _with_system(_clean(example.messages or []), row), **_tools(row)}


def preference(example: Example, row: Metadata) -> dict[str, Any]:
    """Returns `prompt`, `chosen` and `rejected` as messages, and `tools`.

    Responses with a user among them are whole dialogues: the messages with which both begin are the prompt, and the key
    of the prompt is not read. Otherwise a prompt that is a text is the user's. Raises `RefusedError`.
    """
    chosen, rejected = example.chosen, example.rejected
    if not isinstance(chosen, list) or not isinstance(rejected, list):
        raise RefusedError("not_messages", "the responses are texts; valid: messages, or `rows: preference`")
    chosen, rejected = _clean(chosen), _clean(rejected)
    if chosen == rejected:
        raise RefusedError("equal_responses", "chosen and rejected are equal")
    prompt: Messages = [{"role": "user", "content": example.prompt}] if isinstance(example.prompt, str) else []
    if isinstance(example.prompt, list):
        prompt = _clean(example.prompt)
    if any(message["role"] == "user" for message in (*chosen, *rejected)):
        shared = _shared(chosen, rejected)
        prompt, chosen, rejected = chosen[:shared], chosen[shared:], rejected[shared:]
    if not prompt:
        raise RefusedError("no_prompt", "there is no prompt, and the responses do not begin with the same messages")
    if not chosen or not rejected:
        raise RefusedError("no_response", "one of the responses is the beginning of the other")
    return {"prompt": _with_system(prompt, row), "chosen": chosen, "rejected": rejected, **_tools(row)}


def exchange(example: Example, row: Metadata) -> dict[str, Any]:
    """Returns `prompt` and `completion` as messages, and `tools`; a text is one of the user, or of the assistant."""
    prompt = _said("user", example.prompt)
    return {"prompt": _with_system(prompt, row), "completion": _said("assistant", example.completion), **_tools(row)}


def _said(role: str, side: str | Messages | None) -> Messages:
    return _clean(side) if isinstance(side, list) else [{"role": role, "content": side or ""}]


def _shared(one: Messages, other: Messages) -> int:
    """Returns how many messages both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(one), len(other)))


def _clean(messages: Messages) -> Messages:
    return [without_nulls(message) for message in messages]


def _with_system(messages: Messages, row: Metadata) -> Messages:
    given = msgspec.json.decode(row[SYSTEM]) if SYSTEM in row else None
    if given is not None and not isinstance(given, str):
        raise RefusedError("bad_system", f"system is a {type(given).__name__}; valid: a text")
    if not given or (messages[:1] and messages[0]["role"] == SYSTEM):
        return messages
    return [{"role": SYSTEM, "content": given}, *messages]


def _tools(row: Metadata) -> dict[str, Any]:
    """Returns the tools of a row, a list of objects: it, and each of them, may be JSON text. Nothing without any."""
    try:
        found = msgspec.json.decode(row[TOOLS]) if TOOLS in row else None
        if isinstance(found, str) and found.strip():
            found = msgspec.json.decode(found)
        if isinstance(found, list):
            found = [msgspec.json.decode(tool) if isinstance(tool, str) else tool for tool in found]
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedError("bad_tools", f"tools are no JSON: {error}") from None
    if not found:
        return {}
    if not isinstance(found, list) or not all(isinstance(tool, dict) for tool in found):
        raise RefusedError("bad_tools", "tools are something else; valid: a list of objects, or JSON text of one")
    return {TOOLS: without_nulls(found)}


def as_cells(values: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Returns a row of messages with one type for each column: tools, and what is no text in a message, as JSON text.

    keys: of messages, beside role and content. Raises `RefusedError` for a message with another key.
    """
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    cells = {
        name: json_text(value) if name == TOOLS else [_cell(message, keys) for message in value]
        for name, value in lists.items()
    }
    return {**values, **cells}


def _cell(message: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    if others := sorted(message.keys() - {"role", "content"} - {*keys}):
        raise RefusedError(
            "other_message_key", f"a message has the key {others[0]!r}; valid: role, content, those of `message_keys`"
        )
    found = {"role": message["role"], "content": message["content"]}
    for key in (key for key in keys if key in message):
        value = message[key]
        found[key] = _calls(value) if key == CALLS else as_text(value)
    return found


def _calls(calls: Any) -> list[dict[str, Any]]:
    """Returns calls of tools in the form of OpenAI, whose arguments are JSON text."""
    if not isinstance(calls, list):
        raise RefusedError("bad_tool_call", f"tool_calls are a {type(calls).__name__}; valid: a list")
    return [_call(call) for call in calls]


def _call(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    known = isinstance(function, dict) and call.keys() <= _CALL and function.keys() <= _FUNCTION
    if not isinstance(function, dict) or not known:
        raise RefusedError(
            "bad_tool_call", "a call of a tool has other keys; valid: id, type, function with name and arguments"
        )
    called = {key: as_text(value) for key, value in function.items()}
    return {**{key: as_text(value) for key, value in call.items() if key != "function"}, "function": called}


def as_text(value: Any) -> str:
    """Returns a text as it is, and any other value as its JSON text."""
    return value if isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    """Returns the JSON text of a value."""
    return msgspec.json.encode(value).decode()


def raw_text(raw: msgspec.Raw | None) -> str | None:
    """Returns a value that is a text as it is, another one as its JSON text, and None for null and for no value."""
    if raw is None or bytes(raw) == b"null":
        return None
    content = bytes(raw)
    return str(json.loads(content)) if content.startswith(b'"') else content.decode()
