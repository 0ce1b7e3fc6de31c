"""`python -m corpus_assets.tokenize.modes.chat.template_server`: renders conversations for `limited_template.py`.

A template is untrusted, so it runs in a separate process with limits and without other data.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from corpus_assets.tokenize.modes.chat.template import ChatTemplate, Dialogue, TemplateFault
from resources.errors import ConfigError
from resources.processes.limited_work import Answer, serve


class Start(msgspec.Struct):
    """The first request: a template, and further values for it. The answer is the template's fault, or empty."""

    source: str
    values: dict[str, Any]
    day: date | None = None


class Answered(msgspec.Struct, omit_defaults=True):
    """A conversation as text with its `{% generation %}` blocks, or why there is none."""

    text: str = ""
    generated: tuple[tuple[int, int], ...] = ()
    reason: str | None = None
    problem: str = ""


_DIALOGUES = msgspec.json.Decoder(list[Dialogue])


def begin(line: bytes) -> tuple[bytes, Answer]:
    """Compiles a template; returns the answer to that, and the function that answers lists of conversations."""
    start = msgspec.json.decode(line, type=Start)
    try:
        template = ChatTemplate(start.source, day=start.day)
    except ConfigError as fault:
        return msgspec.json.encode(str(fault)), lambda _: b""

    def answer(request: bytes) -> bytes:
        answers = (_answer(template, dialogue, start.values) for dialogue in _DIALOGUES.decode(request))
        return b"[" + b",".join(answers) + b"]"

    return msgspec.json.encode(""), answer


def _answer(template: ChatTemplate, dialogue: Dialogue, values: Mapping[str, Any]) -> bytes:
    try:
        rendered = template.render(dialogue, values)
        return msgspec.json.encode(Answered(rendered.text, rendered.generated))
    except TemplateFault as fault:
        return msgspec.json.encode(Answered(reason=fault.reason, problem=fault.problem))


if __name__ == "__main__":
    serve(begin)
