"""Guesses what rows hold, and under which keys: texts, conversations, pairs or preferences."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from corpus_assets.beginning.looking.values import Row
from corpus_assets.raw.rows.json_values import SHAREGPT_KEYS

Kind = Literal["text", "messages", "pair", "pair_messages", "preference", "preference_messages", "kto", "kto_messages"]

MOST: Final = 0.5
"""Share of the rows that have what is looked for."""

_ROLES: Final = ("role", "from", "speaker", "author", "sender")
_CONTENTS: Final = ("content", "value", "text", "message", "utterance")
_PREFERENCES: Final = (
    *(("chosen", "rejected"), ("chosen_response", "rejected_response"), ("response_chosen", "response_rejected")),
    *(("preferred", "dispreferred"), ("winner", "loser"), ("chosen_answer", "rejected_answer"), ("win", "lose")),
)
_PROMPTS: Final = ("prompt", "instruction", "question", "query", "input", "inputs", "problem", "user", "context")
_COMPLETIONS: Final = (
    "completion",
    "response",
    "output",
    "answer",
    "outputs",
    "targets",
    "target",
    "solution",
    "reply",
)
_LABELS: Final = ("label", "good", "desirable", "thumbs_up")
_TEXTS: Final = (
    "content",
    "body",
    "raw_content",
    "article",
    "document",
    "page_content",
    "markdown",
    "code",
    "contents",
)
_NO_TEXTS: Final = re.compile(
    r"(?i)id|_id|uuid|guid|url|uri|link|path|file|filename|hash|digest|sha\d*|md5|date|time|timestamp|created|added|"
    r"licen[cs]e|lang|language|source|split|title|author|type|mime|html|raw_html|base64|embedding"
)
_IDS: Final = ("_id", "doc_id", "docid", "document_id", "uid", "uuid", "guid", "identifier", "key", "hash", "nr", "url")
_DIGITS: Final = re.compile(r"[\d\s.,:+/TZ-]*")


@dataclass(frozen=True)
class Reading:
    """What rows hold. Keys that a kind does not have are empty.

    text: of the text; empty for files that are a text. messages, role, content: of conversations. prompt, input,
    completion, chosen, rejected, label: of the others. id: the key with ids, None if rows have none.
    """

    kind: Kind
    text: str = ""
    messages: str = ""
    role: str = "role"
    content: str = "content"
    prompt: str = ""
    input: str = ""
    completion: str = ""
    chosen: str = ""
    rejected: str = ""
    label: str = ""
    id: str | None = None

    @property
    def is_text(self) -> bool:
        """Returns whether rows are documents of a corpus."""
        return self.kind == "text"


def reading_of(rows: Sequence[Row]) -> Reading | None:
    """Returns what rows hold; None if no key holds a text."""
    if all(set(row) == {""} for row in rows):
        return Reading("text")
    found = _of_preferences(rows) or _of_messages(rows) or _of_pairs(rows) or _of_texts(rows)
    return found or _of_texts([_lifted(row) for row in rows])


def _lifted(row: Row) -> Row:
    """Returns the values in the objects of a row, under keys with dots."""
    inner = ((key, value) for key, value in row.items() if isinstance(value, dict))
    return {f"{key}.{below}": one for key, value in inner for below, one in value.items()}


def text_under(row: Row, key: str) -> str:
    """Returns the text under a key, whose dot may lead into an object; empty if there is none."""
    outer, _, below = key.partition(".")
    inner = row.get(outer)
    value = inner.get(below) if key not in row and isinstance(inner, dict) else row.get(key)
    return value if isinstance(value, str) else ""


def why_none(rows: Sequence[Row]) -> str:
    """Returns in words what rows hold that have no text."""
    kinds: dict[str, str] = {}
    for row in rows:
        for key, value in row.items():
            kinds.setdefault(key, _kind(value))
    shown = ", ".join(f"{key[:40]} ({kind})" for key, kind in list(kinds.items())[:8])
    return f"no key holds texts; rows have {shown or 'no keys'}"


def _kind(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "list"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_messages(value: object) -> bool:
    """Returns whether a value is a list of messages: objects with a role and a content."""
    return isinstance(value, list) and bool(value) and all(_message_keys(one) is not None for one in value)


def _message_keys(value: object) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    role = next((key for key in _ROLES if isinstance(value.get(key), str)), None)
    content = next((key for key in _CONTENTS if key != role and isinstance(value.get(key), str | list)), None)
    if role is None:
        return None
    if content is None:
        return (role, "content") if value.keys() & {"tool_calls", "function_call"} else None
    return role, content


def _often(rows: Sequence[Row], key: str, holds: Callable[[object], bool]) -> bool:
    return sum(holds(row.get(key)) for row in rows) >= MOST * len(rows)


def _first(rows: Sequence[Row], names: Iterable[str], holds: Callable[[object], bool]) -> str:
    """Returns the first key of some that most rows have in a form; empty if there is none. Case does not matter."""
    folded: dict[str, str] = {}
    for row in rows:
        for key in row:
            folded.setdefault(key.lower(), key)
    there = (folded[name] for name in names if name in folded)
    return next((key for key in there if _often(rows, key, holds)), "")


def _of_preferences(rows: Sequence[Row]) -> Reading | None:
    for chosen, rejected in _PREFERENCES:
        for kind, holds in (("preference", _is_text), ("preference_messages", is_messages)):
            one, other = _first(rows, (chosen,), holds), _first(rows, (rejected,), holds)
            if one and other:
                prompt = _first(rows, _PROMPTS, lambda value: _is_text(value) or is_messages(value))
                texts = _first(rows, _PROMPTS, _is_text)
                role, content = _names_of_messages(rows, one)
                return Reading(
                    "preference_messages" if kind != "preference" or (prompt and prompt != texts) else "preference",
                    prompt=prompt,
                    chosen=one,
                    rejected=other,
                    role=role,
                    content=content,
                )
    return None


def _of_messages(rows: Sequence[Row]) -> Reading | None:
    keys = Counter(key for row in rows for key, value in row.items() if is_messages(value))
    pairs = [key for key, count in keys.most_common() if count >= MOST * len(rows)]
    prompt = next((key for key in _PROMPTS if key in pairs), "")
    completion = next((key for key in _COMPLETIONS if key in pairs), "")
    if prompt and completion:
        role, content = _names_of_messages(rows, prompt)
        label = _label(rows)
        kind: Kind = "kto_messages" if label else "pair_messages"
        return Reading(kind, prompt=prompt, completion=completion, label=label, role=role, content=content)
    if not pairs:
        return None
    role, content = _names_of_messages(rows, pairs[0])
    return Reading("messages", messages=pairs[0], role=role, content=content)


def _names_of_messages(rows: Sequence[Row], key: str) -> tuple[str, str]:
    """Returns the keys of role and content; those that are read anyway are the usual ones."""
    found = Counter(keys for row in rows for one in _items(row.get(key)) if (keys := _message_keys(one)))
    names = found.most_common(1)[0][0] if found else ("role", "content")
    return ("role", "content") if names == SHAREGPT_KEYS else names


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _label(rows: Sequence[Row]) -> str:
    return _first(rows, _LABELS, lambda value: isinstance(value, bool))


def _of_pairs(rows: Sequence[Row]) -> Reading | None:
    texts = _of_texts(rows)
    if texts and _first(rows, ("text",), _is_text) == texts.text and not _first(rows, ("instruction",), _is_text):
        return None  # A document that has a question and an answer beside its text.
    completion = _first(rows, _COMPLETIONS, _is_text)
    prompt = _first(rows, (name for name in _PROMPTS if name != completion), _is_text)
    if not prompt or not completion or prompt == completion:
        return None
    beside = _first(rows, ("input", "context"), lambda value: isinstance(value, str))
    label = _label(rows)
    return Reading(
        "kto" if label else "pair",
        prompt=prompt,
        input=beside if beside not in (prompt, completion) else "",
        completion=completion,
        label=label,
    )


def _of_texts(rows: Sequence[Row]) -> Reading | None:
    keys = Counter(key for row in rows for key, value in row.items() if _is_text(value))
    worth = {key: _worth(rows, key) for key, count in keys.items() if count >= min(MOST * len(rows), 1_000)}
    best = max(worth, key=lambda key: worth[key], default="")
    return Reading("text", text=best) if best and worth[best] > 0 else None


def _worth(rows: Sequence[Row], key: str) -> float:
    """Returns how much the values of a key look like texts: their mean length, weighted by their names and words."""
    values = [str(row[key]) for row in rows if _is_text(row.get(key))]
    letters = [value for value in values if not _DIGITS.fullmatch(value)]
    if key == "text":
        return 20 * (1 + sum(map(len, values)) / len(rows))
    spaced = sum(bool(re.search(r"\S\s+\S", value)) or not value.isascii() for value in letters)
    if spaced < MOST * len(values):
        return 0
    length = sum(map(len, letters)) / len(rows)
    if key.lower() in _TEXTS or key.lower() == "text":
        return 4 * length
    if _NO_TEXTS.fullmatch(key):
        return 0
    return length if length >= 30 or len({*values}) > MOST * len(values) else 0


def id_key(rows: Sequence[Row], found: Reading) -> str | None:
    """Returns the key with an id of its own in every row; None if there is none."""
    if found.kind == "text" and not found.text:
        return None
    used = {value for value in vars(found).values() if isinstance(value, str)}
    for key in ("id", *_IDS):
        values = [row.get(key) for row in rows]
        if key not in used and all(is_id(value) for value in values) and len(set(map(str, values))) == len(values):
            return key
    return None


def is_id(value: object) -> bool:
    """Returns whether a value can be the id of a row: a string that is not empty, or an integer."""
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool))
