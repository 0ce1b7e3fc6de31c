"""Preference pairs as two dialogues: one prompt, and two answers to it (docs/formats/cerebras-rows.md "DPO")."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from corpus_assets.tokenize.modes.chat.alignment import Content, Conversation
from corpus_assets.tokenize.modes.chat.input import messages_without_nulls
from corpus_assets.tokenize.modes.chat.masking import ASKING_ROLES, NAMES
from resources.errors import CorpusError
from resources.formats.examples import Example, Messages

Message = dict[str, Any]

# Noncharacters of Unicode: never part of a text that is meant for interchange.
PROBE = "\ufdd0"
OPEN, CLOSE = "\ufdd1", "\ufdd4"
MARKED = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
"""A text between marks; a template that cuts a content may leave one mark alone."""
_ONE_MARK = re.compile(f"[{OPEN}{CLOSE}]")


class UnusablePairError(CorpusError):
    """A preference pair that gives no row; `reason` is the key it is counted under."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"unusable preference pair: {reason}")
        self.reason = reason

    def __reduce__(self) -> tuple[type["UnusablePairError"], tuple[str]]:
        return (type(self), (self.reason,))


@dataclass(frozen=True)
class Roles:
    """Names of the two speakers in the data."""

    user: str = "user"
    assistant: str = "assistant"


@dataclass(frozen=True)
class Pair:
    """Messages of both sides, the answers included."""

    chosen: Messages
    rejected: Messages

    def with_contents(self, change: Callable[[str], str]) -> "Pair":
        """Returns the pair with every content changed."""
        return Pair(_with_contents(self.chosen, change), _with_contents(self.rejected, change))

    def with_texts(self, change: Callable[[str, bool], str]) -> "Pair":
        """Returns the pair with every text changed but those of `NAMES`; change: told if it is an answer's content."""
        return Pair(*([_with_texts(message, change) for message in side] for side in (self.chosen, self.rejected)))


def unmarked(text: str) -> str:
    """Returns a text without marks."""
    return _ONE_MARK.sub("", text)


def as_written(text: str) -> Conversation:
    """Returns a text without marks; what stood between them is content, in which no control token is found."""
    contents, position = list[Content](), 0
    parts = list(map(unmarked, MARKED.split(text)))
    for number, part in enumerate(parts):
        if number % 2:
            contents.append(Content(position, position + len(part), 0))
        position += len(part)
    return Conversation("".join(parts), tuple(contents), (), 0)


def _with_texts(message: Message, change: Callable[[str, bool], str]) -> Message:
    answers = message["role"] not in ASKING_ROLES

    def changed(value: Any, key: str) -> Any:
        if isinstance(value, str):
            return value if key in NAMES else change(value, answers and key == "content")
        if isinstance(value, list):
            return [changed(item, key) for item in value]
        if isinstance(value, dict):
            return {inner: changed(item, inner) for inner, item in value.items()}
        return value

    return {key: value if key == "name" else changed(value, key) for key, value in message.items()}


def _with_contents(messages: Messages, change: Callable[[str], str]) -> Messages:
    return [
        {key: _changed(value, change) if key in ("content", "tool_calls") else value for key, value in message.items()}
        for message in messages
    ]


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Returns a value with all its texts changed, except those that state its kind."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    if isinstance(value, dict):
        return {key: item if key in ("type", "id") else _changed(item, change) for key, item in value.items()}
    return value


def pair_of(example: Example, roles: Roles) -> Pair:
    """Returns the two dialogues of an example: equal up to the last message, which is the assistant's.

    An answer given as a string, or as messages without a user among them, or that begin with the assistant's, continues
    the prompt; others are a whole dialogue and the prompt is not read. Without a prompt, two strings share the text up
    to the last `<assistant>:` (any case) of their common beginning. Raises UnusablePairError.
    """
    prompt, chosen, rejected = example.prompt, example.chosen, example.rejected
    if not chosen or not rejected:
        raise UnusablePairError("empty_response")
    if not prompt and isinstance(chosen, str) and isinstance(rejected, str):
        prompt, chosen, rejected = _cut_shared_prompt(chosen, rejected, roles.assistant)
    opening = messages_without_nulls(_messages(prompt, roles.user)) if prompt else []
    pair = Pair(_dialogue(opening, chosen, roles), _dialogue(opening, rejected, roles))
    for messages in (pair.chosen, pair.rejected):
        answer = messages[-1]
        if answer["role"] != roles.assistant:
            raise UnusablePairError("no_response")
        if not (answer.get("content") or "").strip() and not answer.get("tool_calls"):
            raise UnusablePairError("empty_response")
    if pair.chosen[:-1] != pair.rejected[:-1]:
        raise UnusablePairError("different_prompts")
    if len(pair.chosen) == 1:
        raise UnusablePairError("no_prompt")
    return pair


def reference_pair_of(example: Example, roles: Roles) -> Pair:
    """Returns the dialogues of Cerebras' Model Zoo: a prompt found in the chosen text stays in both answers."""
    prompt, chosen, rejected = example.prompt, example.chosen, example.rejected
    if not chosen or not rejected:
        raise UnusablePairError("empty_response")
    if isinstance(chosen, list) and isinstance(rejected, list):
        return Pair(_messages(chosen, roles.assistant), _messages(rejected, roles.assistant))
    if not isinstance(chosen, str) or not isinstance(rejected, str):
        raise UnusablePairError("odd_messages")
    if not prompt:
        prompt = chosen[: _reference_speaker_end(chosen, roles.assistant)]
    opening = _messages(prompt, roles.user)
    return Pair(*(opening + _messages(answer, roles.assistant) for answer in (chosen, rejected)))


def _cut_shared_prompt(chosen: str, rejected: str, assistant: str) -> tuple[str, str, str]:
    shared = next((i for i, (a, b) in enumerate(zip(chosen, rejected, strict=False)) if a != b), None)
    try:
        end = _speaker_end(chosen[:shared], assistant) if shared is not None else _speaker_end(chosen, assistant)
    except UnusablePairError:
        if re.search(f"{re.escape(assistant)}:", chosen, re.IGNORECASE):
            raise UnusablePairError("different_prompts") from None
        raise
    return chosen[:end], chosen[end:].lstrip(), rejected[end:].lstrip()


def _speaker_end(text: str, assistant: str) -> int:
    """Returns where the last `<assistant>:` ends."""
    ends = [match.end() for match in re.finditer(f"{re.escape(assistant)}:", text, re.IGNORECASE)]
    if not ends:
        raise UnusablePairError("no_prompt")
    return ends[-1]


def _reference_speaker_end(text: str, assistant: str) -> int:
    """Returns the same by the lower case of the text alone, in which a code point may be two."""
    found = text.lower().rfind(f"{assistant}:")
    if found < 0:
        raise UnusablePairError("no_prompt")
    return found + len(assistant) + 1


def _dialogue(opening: Messages, answer: str | Messages, roles: Roles) -> Messages:
    messages = messages_without_nulls(_messages(answer, roles.assistant))
    begins = [message["role"] for message in messages[:1]] == [roles.assistant]
    continues = begins or all(message["role"] != roles.user for message in messages)
    return opening + messages if continues else messages


def _messages(given: str | Messages, role: str) -> Messages:
    """Returns the messages after a check; a string is one message of the role."""
    messages: Messages = [{"role": role, "content": given}] if isinstance(given, str) else given
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        raise UnusablePairError("odd_messages")
    return messages


def _is_message(message: object) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    content = message.get("content")
    return content is None or (isinstance(content, str) and _is_text(content))


def _is_text(content: str) -> bool:
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return PROBE not in content and unmarked(content) == content
