"""`python -m corpus_assets.tokenize.modes.chat.template_server`: renders conversations for `limited_template.py`.

A template is untrusted, so it runs in a separate process with limits and without other data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from corpus_assets.tokenize.modes.chat.dialogues import Cut, Dialogue, Rendered, TemplateFault
from resources.errors import ConfigError
from resources.processes.limited_work import Answer, serve

if TYPE_CHECKING:
    from corpus_assets.tokenize.modes.chat.template import ChatTemplate


class Start(msgspec.Struct):
    """The first request: a template, and further values for it. The answer is the template's fault, or empty."""

    source: str
    values: dict[str, Any]
    day: date | None = None


class Asked(NamedTuple):
    """A dialogue to render, and cuts of it that are to be rendered as well."""

    dialogue: Dialogue
    cuts: Sequence[Cut] = ()


class Part(NamedTuple):
    """The text of a cut: how many characters it begins with as the text of the dialogue does, and what follows them."""

    shared: int
    rest: str


class Answered(msgspec.Struct, omit_defaults=True):
    """A dialogue as text with its `{% generation %}` blocks, or why there is none.

    parts: the texts of its cuts, None for one that the template does not render.
    """

    text: str = ""
    generated: tuple[tuple[int, int], ...] = ()
    reason: str | None = None
    problem: str = ""
    parts: tuple[Part | None, ...] = ()


_ASKED = msgspec.json.Decoder(list[Asked])


def begin(line: bytes) -> tuple[bytes, Answer]:
    """Compiles a template; returns the answer to that, and the function that answers lists of `Asked`."""
    # Whoever starts this process imports its messages alone, without jinja.
    from corpus_assets.tokenize.modes.chat.template import ChatTemplate

    start = msgspec.json.decode(line, type=Start)
    try:
        template = ChatTemplate(start.source, day=start.day)
    except ConfigError as fault:
        return msgspec.json.encode(str(fault)), lambda _: b""

    def answer(request: bytes) -> bytes:
        answers = (_answer(template, asked, start.values) for asked in _ASKED.decode(request))
        return b"[" + b",".join(answers) + b"]"

    return msgspec.json.encode(""), answer


def _answer(template: ChatTemplate, asked: Asked, values: Mapping[str, Any]) -> bytes:
    try:
        whole = template.render(asked.dialogue, values)
    except TemplateFault as fault:
        return msgspec.json.encode(Answered(reason=fault.reason, problem=fault.problem))
    parts = tuple(_part(template, cut.of(asked.dialogue), values, whole) for cut in asked.cuts)
    return msgspec.json.encode(Answered(whole.text, whole.generated, parts=parts))


def _part(template: ChatTemplate, cut: Dialogue, values: Mapping[str, Any], whole: Rendered) -> Part | None:
    try:
        text = template.render(cut, values).text
    except TemplateFault:
        return None
    return part_of(text, whole.text)


def part_of(text: str, whole: str) -> Part:
    """Returns the text of a cut beside that of its dialogue."""
    if whole.startswith(text):
        return Part(len(text), "")
    low, high = 0, min(len(text), len(whole))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[low:middle] == whole[low:middle] else (low, middle - 1)
    return Part(low, text[low:])


if __name__ == "__main__":
    serve(begin)
