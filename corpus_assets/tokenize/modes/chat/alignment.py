"""Finds which stretches of a rendered conversation come from its messages, and which from the template.

A conversation is rendered twice: unchanged, and with a mark instead of every text of its messages, which is done once
for all that differ in these texts alone. The text between the marks comes from the template and occurs in the real text
too; the rest of the real text is content, as the template wrote it (trimmed, escaped as JSON, or a part of it).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import LIMIT, Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.limited_template import Found as Rendering
from corpus_assets.tokenize.modes.chat.masking import CONTROL_IN_NAME, MARKS, Masking, Text

ALIGNMENT_FAILED = "template_alignment"


class Content(NamedTuple):
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


class Frame(NamedTuple):
    """What a template writes around the texts of a dialogue: before the first, and after each of them by its number."""

    first: str
    after: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, masked: Rendering) -> "Frame | TemplateFault":
        """Returns that of a dialogue with marks in place of its texts."""
        if isinstance(masked, TemplateFault):
            return masked
        first, *others = MARKS.split(masked.text)
        return cls(first, tuple(zip(map(int, others[::2]), others[1::2], strict=True)))


class Aligning:
    """A dialogue whose contents are to be found in its text, and a copy of it with marks in their place.

    Its faults: those of the template, `template_alignment`, or `control_token_in_name` for a role, type, id, name, key
    or value beside the messages that spells a control token.

    masked: the copy, None with such a name. shape: dialogues of one shape have equal copies; empty without a copy.
    """

    def __init__(self, dialogue: Dialogue, tokens: ControlTokens) -> None:
        masking = Masking(dialogue, tokens)
        self._texts, self._fault = masking.texts, masking.fault
        self.masked = None if masking.fault else Dialogue(masking.masked, dialogue.values)
        self.shape = msgspec.json.encode(self.masked) if self.masked else b""

    def found(self, rendered: Rendering, frame: Frame | TemplateFault | None) -> Conversation | TemplateFault:
        """Returns the text with its contents. rendered, frame: what the template gave for the dialogue and its copy.

        If the marks change the behaviour of the template, contents are searched in order; they count if there is only
        one way to find them all and none spells a control token.
        """
        if isinstance(rendered, TemplateFault):
            return rendered
        around = self._fault or frame
        if isinstance(around, TemplateFault) and around.reason in (LIMIT, CONTROL_IN_NAME):
            return around
        texts, found = self._texts, None
        if isinstance(around, Frame):
            found = _as_they_are(rendered.text, around, texts) or _between_marks(rendered.text, around, texts)
        if found is None:
            found = _in_order(rendered.text, texts)
        if found is None:
            return TemplateFault(ALIGNMENT_FAILED, "the contents cannot be told from the template")
        contents = tuple(Content(start, stop, texts[number].message) for start, stop, number in found)
        left_out = len(texts) - len({number for _, _, number in found})
        return Conversation(rendered.text, contents, rendered.generated, left_out)


def name_fault(dialogue: Dialogue, tokens: ControlTokens) -> TemplateFault | None:
    """Returns the fault of a role, type, id, name, key or value beside the messages that spells a control token."""
    return Masking(dialogue, tokens).fault


Found = list[tuple[int, int, int]]  # start, stop, number of the text


def _as_they_are(rendered: str, frame: Frame, texts: Sequence[Text]) -> Found | None:
    """Returns the contents if the template wrote all texts unchanged: what `_between_marks` finds then, only sooner."""
    parts, found, position = [frame.first], list[tuple[int, int, int]](), len(frame.first)
    for number, literal in frame.after:
        if number >= len(texts):
            return None
        text = texts[number].text
        parts += (text, literal)
        found.append((position, position + len(text), number))
        position += len(text) + len(literal)
    return found if position == len(rendered) and "".join(parts) == rendered else None


def _between_marks(rendered: str, frame: Frame, texts: Sequence[Text]) -> Found | None:
    """Returns the contents between the template's parts; of several ways, the one with the fullest first contents."""
    if not rendered.startswith(frame.first) or any(number >= len(texts) for number, _ in frame.after):
        return None
    reached: Iterable[int] = [len(frame.first)]
    layers: list[dict[int, tuple[int, int]]] = []  # position -> start and stop of the content before it
    for number, literal in frame.after:
        layer: dict[int, tuple[int, int]] = {}
        for start in reached:
            for stop in texts[number].ends(rendered, start, literal):
                layer.setdefault(stop + len(literal), (start, stop))
        layers.append(layer)
        reached = layer
    position = len(rendered)
    if position not in reached:
        return None
    found: Found = []
    for (number, _), layer in zip(reversed(frame.after), reversed(layers), strict=True):
        start, stop = layer[position]
        found.append((start, stop, number))
        position = start
    return found[::-1]


def _in_order(rendered: str, texts: Sequence[Text]) -> Found | None:
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
