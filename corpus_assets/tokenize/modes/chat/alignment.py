"""Finds which stretches of a rendered conversation come from its messages, and which from the template.

A conversation is rendered twice: unchanged, and with a mark instead of every text of its messages. The text between the
marks comes from the template and occurs in the real text too; the rest of the real text is content, as the template
wrote it (trimmed, escaped as JSON, or a part of it).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from corpus_assets.tokenize.modes.chat.limited_template import Found as Rendering
from corpus_assets.tokenize.modes.chat.template import LIMIT, Dialogue, Rendered, TemplateFault
from resources.formats.examples import Messages

# Noncharacters: no text meant for exchange holds them (Unicode standard, section 23.7), and no trimming removes them.
_MARK = "\ufdd0{}\ufdd1"
_MARKS = re.compile("\ufdd0([0-9]+)\ufdd1")
# Strings that templates compare or measure; they stay, and must spell no control token.
NAMES = frozenset({"role", "type", "id", "tool_call_id"})
REASONING = re.compile("(</?think>)")
"""The tags between which a model may write its reasoning, for which templates look."""
ASKING_ROLES = frozenset({"user", "system", "developer", "tool", "function", "ipython", "observation"})
"""Roles whose messages a model gets; it writes those of all other roles."""
ALIGNMENT_FAILED = "template_alignment"
CONTROL_IN_NAME = "control_token_in_name"

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Content:
    """text[start:stop] is a text of message number `message`."""

    start: int
    stop: int
    message: int


@dataclass(frozen=True)
class Conversation:
    """A rendered dialogue; `contents` are in the order of the text, `left_out` texts are not in it."""

    text: str
    contents: tuple[Content, ...]
    generated: tuple[tuple[int, int], ...]
    left_out: int


class ControlTokens:
    """Finds control tokens as the tokenizers library does: leftmost, and of those the longest."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self.ids = tokens
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def find(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yields (start, stop) of the control tokens that lie in text[start:stop]."""
        return (match.span() for match in self._pattern.finditer(text, start, stop))

    def spelled_in(self, text: str) -> bool:
        """True if the text spells one."""
        return self._pattern.search(text) is not None


class Aligning:
    """A dialogue whose contents are to be found in its text, and a copy of it with marks in their place.

    Its faults: those of the template, `template_alignment`, or `control_token_in_name` for a role, type, id, name, key
    or value beside the messages that spells a control token.
    """

    def __init__(self, dialogue: Dialogue, tokens: ControlTokens) -> None:
        self._masking = _Masking(dialogue, tokens)
        self._dialogue = dialogue

    @property
    def asked(self) -> list[Dialogue]:
        """Returns what has to be rendered."""
        masking = self._masking
        masked = [] if masking.fault else [Dialogue(masking.masked, self._dialogue.values)]
        return [self._dialogue, *masked]

    def found(self, rendered: Sequence[Rendering]) -> Conversation | TemplateFault:
        """Returns the text with its contents. rendered: what the template gave for `asked`.

        If the marks change the behaviour of the template, contents are searched in order; they count if there is only
        one way to find them all and none spells a control token.
        """
        masked = self._masking.fault or rendered[1]
        return _aligned(rendered[0], self._masking.texts, masked)


def name_fault(dialogue: Dialogue, tokens: ControlTokens) -> TemplateFault | None:
    """Returns the fault of a role, type, id, name, key or value beside the messages that spells a control token."""
    return _Masking(dialogue, tokens).fault


def _aligned(rendered: Rendering, texts: Sequence["_Text"], masked: Rendering) -> Conversation | TemplateFault:
    if isinstance(rendered, TemplateFault):
        return rendered
    if isinstance(masked, TemplateFault) and masked.reason in (LIMIT, CONTROL_IN_NAME):
        return masked
    found = None if isinstance(masked, TemplateFault) else _between_marks(rendered, masked.text, texts)
    if found is None:
        found = _in_order(rendered.text, texts)
    if found is None:
        return TemplateFault(ALIGNMENT_FAILED, "the contents cannot be told from the template")
    contents = tuple(Content(start, stop, texts[number].message) for start, stop, number in found)
    left_out = len(texts) - len({number for _, _, number in found})
    return Conversation(rendered.text, contents, rendered.generated, left_out)


@dataclass(frozen=True)
class _Text:
    """A text of a message."""

    text: str
    message: int
    spells_control: bool

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """As templates write it: as it is, trimmed, and inside JSON."""
        text = self.text
        escaped = (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1])
        return tuple(dict.fromkeys((text, text.strip(), text.rstrip(), text.lstrip(), *escaped)))

    def ends(self, rendered: str, start: int, following: str) -> list[int]:
        """Returns where it may end if it starts there, before `following`: a part of it only if no whole form fits."""
        # Where a text without white space around it stands as it is, no other form does; JSON forms cost their making.
        stop = start + len(self.text)
        if self.is_bare and rendered.startswith(self.text, start) and rendered.startswith(following, stop):
            return [stop]
        whole = [
            start + len(form)
            for form in self.forms
            if rendered.startswith(form, start) and rendered.startswith(following, start + len(form))
        ]
        return whole or list(self._parts(rendered, start, following))

    @property
    def is_bare(self) -> bool:
        """Returns whether no white space is around it."""
        return not (self.text[:1].isspace() or self.text[-1:].isspace())

    def _parts(self, rendered: str, start: int, following: str) -> Iterator[int]:
        # A part of a text that spells control tokens might end where the text only looks like the template.
        if self.spells_control:
            return
        limit = start + max(map(len, self.forms))
        stop = rendered.find(following, start, limit + len(following)) if following else len(rendered)
        while 0 <= stop <= limit:
            if any(rendered[start:stop] in form for form in self.forms):
                yield stop
            stop = rendered.find(following, stop + 1, limit + len(following)) if following else -1


class _Masking:
    """A copy of messages with a mark in place of every text; the texts are collected by number.

    A model's message may hold its reasoning between tags that templates search for: the tags stay, and count as the
    template's. fault: why there is no copy.
    """

    def __init__(self, dialogue: Dialogue, tokens: ControlTokens) -> None:
        self.texts: list[_Text] = []
        self.masked: Messages = []
        self.fault: TemplateFault | None = None
        self._tokens = tokens
        self._message = 0
        self._reasons = False
        try:
            self._check(dialogue.values)
            for self._message, message in enumerate(dialogue.messages):
                self._reasons = message.get("role") not in ASKING_ROLES
                self.masked.append(self._marked(message))
        except TemplateFault as fault:
            self.fault = fault

    def _check(self, value: Any) -> None:
        """Raises the fault of a value beside the messages that spells a control token."""
        if isinstance(value, str):
            self._name(value)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._name(key)
                self._check(item)
        elif isinstance(value, list):
            for item in value:
                self._check(item)

    def _marked(self, message: Message) -> dict[str, Any]:
        # The name of a speaker stays; the model writes that of a tool.
        return {self._name(key): self._copy(value, "id" if key == "name" else key) for key, value in message.items()}

    def _copy(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {self._name(inner): self._copy(item, inner) for inner, item in value.items()}
        if isinstance(value, list):
            return [self._copy(item, key) for item in value]
        if not isinstance(value, str) or not value:
            return value
        if key in NAMES:
            return self._name(value)
        if self._reasons and key == "content" and len(parts := REASONING.split(value)) > 1:
            return "".join(part if n % 2 or part.isspace() else self._mark(part) for n, part in enumerate(parts))
        return self._mark(value)

    def _mark(self, text: str) -> str:
        if not text:
            return text
        self.texts.append(_Text(text, self._message, self._tokens.spelled_in(text)))
        return _MARK.format(len(self.texts) - 1)

    def _name(self, name: str) -> str:
        if self._tokens.spelled_in(name) or _MARKS.search(name):
            raise TemplateFault(CONTROL_IN_NAME, f"received {name[:80]!r}; valid: names that spell no control token")
        return name


Found = list[tuple[int, int, int]]  # start, stop, number of the text


def _between_marks(rendered: Rendered, masked: str, texts: Sequence[_Text]) -> Found | None:
    """Returns the contents between the template's parts; of several ways, the one with the fullest first contents."""
    first, *others = _MARKS.split(masked)
    numbers, literals = [int(number) for number in others[::2]], others[1::2]
    if not rendered.text.startswith(first) or any(number >= len(texts) for number in numbers):
        return None
    reached: Iterable[int] = [len(first)]
    layers: list[dict[int, tuple[int, int]]] = []  # position -> start and stop of the content before it
    for number, literal in zip(numbers, literals, strict=True):
        layer: dict[int, tuple[int, int]] = {}
        for start in reached:
            for stop in texts[number].ends(rendered.text, start, literal):
                layer.setdefault(stop + len(literal), (start, stop))
        layers.append(layer)
        reached = layer
    position = len(rendered.text)
    if position not in reached:
        return None
    found: Found = []
    for number, layer in zip(reversed(numbers), reversed(layers), strict=True):
        start, stop = layer[position]
        found.append((start, stop, number))
        position = start
    return found[::-1]


def _in_order(rendered: str, texts: Sequence[_Text]) -> Found | None:
    """Returns contents found one after another; searches from the left and from the right must agree."""
    if any(text.spells_control for text in texts):
        return None
    from_left: Found = []
    position = 0
    for number, text in enumerate(texts):
        form = next((form for form in text.forms if rendered.find(form, position) >= 0), None)
        if not form:
            return None
        start = rendered.index(form, position)
        position = start + len(form)
        from_left.append((start, position, number))
    position = len(rendered)
    for start, stop, _ in reversed(from_left):
        if rendered.rfind(rendered[start:stop], 0, position) != start:
            return None
        position = start
    return from_left
