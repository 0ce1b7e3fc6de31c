"""What goes into a chat template and comes out of it. The library of templates is not loaded for that."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from resources.errors import CorpusError
from resources.formats.examples import Messages

LIMIT = "template_limit"
TEMPLATE_REASONS = ("template_error", "template_refused", LIMIT)
"""The reasons of a `TemplateFault` here; the modules that examine rendered texts have further ones."""


class TemplateFault(CorpusError):  # noqa: N818  a fault of the conversation as often as of the template
    """A conversation that a template does not accept. `reason` is a short name for counting."""

    def __init__(self, reason: str, problem: str) -> None:
        super().__init__(f"{reason}: {problem}")
        self.reason = reason
        self.problem = problem

    def __reduce__(self) -> tuple[type["TemplateFault"], tuple[str, str]]:
        return (type(self), (self.reason, self.problem))


class Dialogue(msgspec.Struct, frozen=True, omit_defaults=True):
    """The input of a template: messages, and further values by name, which take precedence over those of the dataset.

    generation_prompt: whether the text ends where an answer would begin.
    """

    messages: Messages
    values: dict[str, Any] = {}
    generation_prompt: bool = False


class Cut(NamedTuple):
    """The first messages of a dialogue: how many, and whether the text ends where an answer would begin."""

    messages: int
    generation_prompt: bool = False

    def of(self, dialogue: Dialogue) -> Dialogue:
        """Returns the dialogue of these messages alone."""
        return Dialogue(dialogue.messages[: self.messages], dialogue.values, self.generation_prompt)


@dataclass(frozen=True)
class Rendered:
    """A text, and the (start, stop) of its `{% generation %}` blocks in code points."""

    text: str
    generated: tuple[tuple[int, int], ...] = ()


class Reads(NamedTuple):
    """What a template reads.

    names: variables that it does not set itself. keys: those that a message may have to be read, None if it may read
    any: where it writes whole messages, or looks keys up by variables.
    """

    names: frozenset[str]
    keys: frozenset[str] | None
