"""Reads the values of a row, held as JSON bytes: their kinds, and the texts and messages in them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from corpus_assets.raw.rows.faults import RowError, check_json
from resources.formats.examples import Messages

Fields = dict[str, msgspec.Raw]
"""The values of a row by key, as JSON bytes."""

OBJECT: Final = msgspec.json.Decoder(Fields)
STRING: Final = msgspec.json.Decoder(str)
LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
ANY: Final = msgspec.json.Decoder()
EMPTY_OBJECT: Final = msgspec.Raw(b"{}")
_KINDS: Final = {
    ord('"'): "string",
    ord("{"): "object",
    ord("["): "list",
    ord("t"): "boolean",
    ord("f"): "boolean",
    ord("n"): "null",
}

SHAREGPT_KEYS: Final = ("from", "value")
SHAREGPT_ROLES: Final = {"human": "user", "gpt": "assistant"}
_CALLS: Final = frozenset({"tool_calls", "function_call"})
BLANK_LINE: Final = "\n\n"
_INTEGER: Final = re.compile(rb"-?[0-9]+")


def kind_of(raw: msgspec.Raw) -> str:
    """Returns the JSON type of a value: string, number, boolean, null, list or object."""
    return _KINDS.get(memoryview(raw)[0], "number")


def says_nothing(raw: msgspec.Raw, expected: str) -> bool:
    """Returns whether a value adds nothing: it is null, or the expected string."""
    kind = kind_of(raw)
    return kind == "null" or (kind == "string" and STRING.decode(raw) == expected)


def take_string(fields: Fields, key: str) -> str | None:
    """Removes and returns a string; removes a null; leaves a value of another type in `fields` and returns None."""
    raw = fields.get(key)
    if raw is None or (kind := kind_of(raw)) not in ("string", "null"):
        return None
    del fields[key]
    return STRING.decode(raw) if kind == "string" else None


def splits(key: str) -> Iterator[tuple[str, str]]:
    """Yields the ways to read a key with dots as a key and one below it: `a.b`, `c` before `a`, `b.c`."""
    for dot in range(len(key) - 1, -1, -1):
        if key[dot] == ".":
            yield key[:dot], key[dot + 1 :]


def lift(fields: Fields, keys: Sequence[str]) -> None:
    """Moves the values to which keys with dots lead to the top, under the whole key.

    A key that is there with its dots stays as it is. In a list of objects, values of all of them become one list,
    without nulls, and lists among them are taken apart. Objects that are empty then go.
    """
    for key in keys:
        if key not in fields and (found := _taken(fields, key)) is not None:
            fields[key] = found


def _taken(fields: Fields, key: str) -> msgspec.Raw | None:
    for head, rest in splits(key):
        if (raw := fields.get(head)) is None:
            continue
        found, left = _taken_below(raw, rest)
        if found is not None:
            if left is None:
                del fields[head]
            else:
                fields[head] = left
            return found
    return None


def _taken_below(raw: msgspec.Raw, key: str) -> tuple[msgspec.Raw | None, msgspec.Raw | None]:
    """Returns the value of a key below a value, and what is left of that without it; None for nothing."""
    kind = kind_of(raw)
    if kind == "object":
        fields = OBJECT.decode(raw)
        found = fields.pop(key) if key in fields else _taken(fields, key)
        return (None, raw) if found is None else (found, encoded(fields) if fields else None)
    items = LIST.decode(raw) if kind == "list" else []
    if not items or {kind_of(item) for item in items} != {"object"}:
        return None, raw
    each = [_taken_below(item, key) for item in items]
    there = [found for found, _ in each if found is not None]
    if not there:
        return None, raw
    given = [found for found in there if kind_of(found) != "null"]
    values = [item for found in given for item in (LIST.decode(found) if kind_of(found) == "list" else [found])]
    left = [EMPTY_OBJECT if rest is None else rest for _, rest in each]
    return encoded(values if given else None), None if all(rest is None for _, rest in each) else encoded(left)


def encoded(value: object) -> msgspec.Raw:
    """Returns a value as JSON bytes."""
    return msgspec.Raw(msgspec.json.encode(value))


def utf8(value: object) -> object:
    """Returns a typed value with all bytes in it, at any depth, as text; raises `RowError` if they are not UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as fault:
            raise RowError("invalid_utf8", str(fault)) from None
    if isinstance(value, list):
        return [utf8(item) for item in value]
    if isinstance(value, dict):
        return {key: utf8(item) for key, item in value.items()}
    return value


def python_text(raw: msgspec.Raw) -> str:
    """Returns a number or a boolean of JSON as Python's `str` writes it."""
    if kind_of(raw) == "boolean":
        return str(ANY.decode(raw))
    if not _INTEGER.fullmatch(raw):
        return str(float(bytes(raw)))
    return "0" if bytes(raw) == b"-0" else bytes(raw).decode()


def is_zero(raw: msgspec.Raw) -> bool:
    """Returns whether a value is false or a number that is zero."""
    kind = kind_of(raw)
    return (kind == "number" and not float(bytes(raw))) or (kind == "boolean" and bytes(raw) == b"false")


def text_value(raw: msgspec.Raw | None, name: str, place: str, *, as_python: bool = False) -> str | None:
    """Returns a value as a text; None if it is missing or null.

    A number is used as written in the JSON (0 is "0", 3.5 is "3.5"), a list of strings is joined by blank lines, an
    empty list is the empty string (docs/formats/cerebras-hdf5.md "Reading input"). Raises `RowError`
    `<name>_not_text` for anything else; `place` tells a person where the value is. as_python: numbers and booleans are
    as Python's `str` writes them.
    """
    kind = "null" if raw is None else kind_of(raw)
    if raw is None or kind == "null":
        return None
    if kind == "string":
        return STRING.decode(raw)
    if as_python and kind in ("number", "boolean"):
        return python_text(raw)
    if kind == "number":
        return bytes(raw).decode()
    if kind == "list":
        if (joined := joined_strings(raw)) is not None:
            return joined
        kind = "list of other things than strings"
    raise RowError(f"{name}_not_text", f"{place} holds {kind}; valid: string, number, list of strings")


def joined_strings(raw: msgspec.Raw) -> str | None:
    """Returns the strings of a list joined by blank lines; None if it holds other things."""
    items = LIST.decode(raw)
    return BLANK_LINE.join(map(STRING.decode, items)) if all(kind_of(item) == "string" for item in items) else None


def holds_objects(raw: msgspec.Raw | None) -> bool:
    """Returns whether a value is a list that begins with an object, as messages do."""
    return raw is not None and kind_of(raw) == "list" and [kind_of(item) for item in LIST.decode(raw)[:1]] == ["object"]


def messages_value(
    raw: msgspec.Raw,
    place: str,
    keys: tuple[str, str],
    nesting: int,
    *,
    roles_by_turn: bool = False,
    as_python: bool = False,
) -> Messages:
    """Returns the messages of a list of objects, or of strings (user and assistant in turn).

    A message has `role`, `content` and other keys. `keys` names role and content in the raw object; objects with
    neither are read as ShareGPT (`from`, `value`), whose role names become user and assistant. Content follows
    `text_value`, or is a list of parts (`{"type": "text", "text": ...}`, or strings between them), whose texts are
    joined; it may be empty, and may be missing only if the message calls a tool. Other keys stay as they are,
    without nulls, which a table has wherever a key is absent; a key that is called role or content gets an underscore.
    `roles_by_turn`: a message without a role gets that of its turn, user or assistant. `as_python`: as for
    `text_value`, and there are no parts. Raises `RowError` for anything else.
    """
    if (kind := kind_of(raw)) != "list":
        hint = "; JSON inside a string is not read" if kind == "string" else ""
        raise RowError("messages_not_a_list", f"{place} holds {kind}; valid: a list of messages{hint}")
    try:
        check_json(bytes(raw), nesting)
    except RowError as error:
        limits = f"valid: at most {nesting} levels, numbers within a double"
        raise RowError(error.reason, f"{place} nests too deep or holds too large a number; {limits}") from None
    items = LIST.decode(raw)
    if {kind_of(item) for item in items} == {"string"}:
        return _alternating(items)
    return [
        _message(
            item, f"{place} message {turn + 1}", keys, _TURNS[turn % 2] if roles_by_turn else None, as_python=as_python
        )
        for turn, item in enumerate(items)
    ]


_TURNS = ("user", "assistant")


def _alternating(items: Sequence[msgspec.Raw]) -> Messages:
    return [{"role": _TURNS[turn % 2], "content": STRING.decode(item)} for turn, item in enumerate(items)]


def _message(
    raw: msgspec.Raw, place: str, keys: tuple[str, str], by_turn: str | None, *, as_python: bool
) -> dict[str, Any]:
    if (kind := kind_of(raw)) != "object":
        raise RowError("message_not_an_object", f"{place} is {kind}; valid: objects only, or strings only")
    fields = {key: value for key, value in OBJECT.decode(raw).items() if kind_of(value) != "null"}
    if not fields.keys() & set(keys) and fields.keys() & set(SHAREGPT_KEYS):
        keys = SHAREGPT_KEYS
    role_key, content_key = keys
    lift(fields, [key for key in keys if "." in key])
    role = _role(fields.pop(role_key, None), f"{place} key {role_key!r}") or by_turn
    given = fields.pop(content_key, None)
    content = _content(given, f"{place} key {content_key!r}", as_python=as_python)
    if not role:
        there = fields if given is None else {content_key: given, **fields}
        raise RowError("no_role", f"{place} has no {role_key!r}; it has {names(there)}")
    if content is None and not fields.keys() & _CALLS:
        raise RowError("no_content", f"{place} has no {content_key!r}; it has {names(fields)}")
    if role_key == SHAREGPT_KEYS[0]:
        role = SHAREGPT_ROLES.get(role, role)
    message: dict[str, Any] = {"role": role, "content": content or ""}
    for key, value in fields.items():
        message[free_key(key, message)] = ANY.decode(value)
    return message


def _content(raw: msgspec.Raw | None, place: str, *, as_python: bool) -> str | None:
    items = LIST.decode(raw) if raw is not None and kind_of(raw) == "list" and not as_python else []
    if any(kind_of(item) == "object" for item in items):
        return "".join(_part(item, place) for item in items)
    return text_value(raw, "content", place, as_python=as_python)


def _part(raw: msgspec.Raw, place: str) -> str:
    """Returns the text of a part of a content; a table has nulls for the keys that other parts have."""
    part = ANY.decode(raw)
    if isinstance(part, str):
        return part
    given = {key: value for key, value in part.items() if value is not None} if isinstance(part, dict) else {}
    kind = given.get("type", "text") if given else kind_of(raw)
    if kind == "text" and isinstance(text := given.get("text"), str):
        return text
    without = " without a text" if kind == "text" else ""
    raise RowError("part_not_text", f"{place} has a part of type {kind!r:.80}{without}; valid: text")


def _role(raw: msgspec.Raw | None, place: str) -> str | None:
    if raw is None or (kind := kind_of(raw)) == "string":
        return None if raw is None else STRING.decode(raw)
    raise RowError("role_not_text", f"{place} holds {kind}; valid: string")


def free_key(key: str, taken: dict[str, Any]) -> str:
    """Returns the key with underscores appended until it is not among those taken."""
    while key in taken:
        key += "_"
    return key


def names(fields: Fields) -> str:
    """Returns the first keys of a row, for error messages."""
    return ", ".join(repr(key[:40]) for key in list(fields)[:10]) or "no keys"
