"""Copies of messages with a mark in place of every text, so that what a template writes around texts can be told."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, TemplateFault
from resources.formats.examples import Messages

# Noncharacters: no text meant for exchange holds them (Unicode standard, section 23.7), and no trimming removes them.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
MARKS = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
# Strings that templates compare or measure; they stay, and must spell no control token.
NAMES = frozenset({"role", "type", "id", "tool_call_id"})
REASONING = re.compile("(</?think>)")
"""The tags between which a model may write its reasoning, for which templates look."""
ASKING_ROLES = frozenset({"user", "system", "developer", "tool", "function", "ipython", "observation"})
"""Roles whose messages a model gets; it writes those of all other roles."""
CONTROL_IN_NAME = "control_token_in_name"

Message = Mapping[str, Any]


class Text:
    """A text of a message."""

    def __init__(self, text: str, message: int, tokens: ControlTokens) -> None:
        self.text = text
        self.message = message
        self._tokens = tokens

    @cached_property
    def spells_control(self) -> bool:
        """Returns whether it spells a control token."""
        return self._tokens.spelled_in(self.text)

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


class Masking:
    """A copy of messages with a mark in place of every text; the texts are collected by number.

    A model's message may hold its reasoning between tags that templates search for: the tags stay, and count as the
    template's. fault: why there is no copy.
    """

    def __init__(self, dialogue: Dialogue, tokens: ControlTokens) -> None:
        self.texts: list[Text] = []
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
        if isinstance(value, str):
            return self._copied_text(value, key)
        if isinstance(value, dict):
            return {self._name(inner): self._copy(item, inner) for inner, item in value.items()}
        return [self._copy(item, key) for item in value] if isinstance(value, list) else value

    def _copied_text(self, value: str, key: str) -> str:
        if key in NAMES:
            return self._name(value)
        if self._reasons and key == "content" and len(parts := REASONING.split(value)) > 1:
            return "".join(part if n % 2 or part.isspace() else self._mark(part) for n, part in enumerate(parts))
        return self._mark(value)

    def _mark(self, text: str) -> str:
        if not text:
            return text
        self.texts.append(Text(text, self._message, self._tokens))
        return f"{_OPEN}{len(self.texts) - 1}{_CLOSE}"

    def _name(self, name: str) -> str:
        if self._tokens.find_again(name) or (_OPEN in name and MARKS.search(name)):
            raise TemplateFault(CONTROL_IN_NAME, f"received {name[:80]!r}; valid: names that spell no control token")
        return name
