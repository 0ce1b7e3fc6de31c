"""Where the answers of a rendered conversation begin and end: what a model has to say, its end of turn included.

The template tells it. The messages before an answer, rendered with the prompt for it (`add_generation_prompt`), end
where the model begins to write; those up to the answer, rendered alone, hold all that it writes. Where a later turn
changes how an answer is rendered (reasoning that is left out of a history, another token at the end of the last turn),
the model never saw it so: such an answer is learned in a text of its own, which ends with it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus_assets.tokenize.modes.chat_alignment import ASKING_ROLES, ControlTokens, Conversation
from corpus_assets.tokenize.modes.chat_template import Dialogue, Rendered
from corpus_assets.tokenize.modes.limited_template import Found as Rendering
from corpus_assets.tokenize.modes.limited_template import LimitedTemplate

# Noncharacters: no token holds them.
_ASKED, _SAID = "\ufdd2", "\ufdd3"


class Answer(NamedTuple):
    """text[start:stop] is what the model says in message number `message`."""

    message: int
    start: int
    stop: int


@dataclass(frozen=True)
class Answers:
    """The answers that are learned in a text, and the messages whose answers it does not show as they were given."""

    found: tuple[Answer, ...] = ()
    rewritten: tuple[int, ...] = ()


class Asking:
    """The messages of a dialogue that are to be learned, with what has to be rendered to find them in its text.

    header: see `header_of`.
    """

    def __init__(self, dialogue: Dialogue, wanted: Collection[int], header: str | None = None) -> None:
        self._dialogue = dialogue
        self._header = header
        self._wanted = sorted(wanted)
        last = len(dialogue.messages) - 1
        said = [number for number in self._wanted if dialogue.messages[number].get("role") not in ASKING_ROLES]
        self._prompts = {number: self._before(number) for number in said if number}
        self._ends = {number: self.up_to(number) for number in self._wanted if number != last}

    @property
    def asked(self) -> list[Dialogue]:
        """Returns what has to be rendered."""
        return [*self._prompts.values(), *self._ends.values()]

    def up_to(self, number: int) -> Dialogue:
        """Returns the dialogue that ends with a message."""
        return Dialogue(self._dialogue.messages[: number + 1], self._dialogue.values)

    def _before(self, number: int) -> Dialogue:
        return Dialogue(self._dialogue.messages[:number], self._dialogue.values, generation_prompt=True)

    def found(self, whole: Conversation, rendered: Sequence[Rendering], tokens: ControlTokens) -> Answers:
        """Returns the answers in the text of the dialogue. rendered: what the template gave for `asked`."""
        prompts = _texts(dict(zip(self._prompts, rendered, strict=False)))
        ends = _texts(dict(zip(self._ends, rendered[len(self._prompts) :], strict=True)))
        found, rewritten = list[Answer](), list[int]()
        for number in self._wanted:
            prompt = prompts.get(number)
            start = (
                _begin(whole, number, prompt, tokens)
                if self._header is None or prompt is None
                else _begin_after(whole, number, prompt + self._header)
            )
            if start is None:
                continue
            written = max([start, *(content.stop for content in whole.contents if content.message == number)])
            alone = whole.text if number not in self._ends else ends.get(number)
            stop = _end(whole, number, written, alone, tokens)
            if stop is None:
                rewritten.append(number)
            else:
                found.append(Answer(number, start, stop))
        return Answers(tuple(found), tuple(rewritten))


def _texts(rendered: Mapping[int, Rendering]) -> dict[int, str]:
    return {number: found.text for number, found in rendered.items() if isinstance(found, Rendered)}


def _begin(whole: Conversation, number: int, prompt: str | None, tokens: ControlTokens) -> int | None:
    """Returns where an answer begins: after the prompt for it, or else with its first content; None without both."""
    first = min((content.start for content in whole.contents if content.message == number), default=None)
    if prompt is None:
        return first
    before = max((content.stop for content in whole.contents if content.message < number), default=0)
    shared = _shared(whole.text, prompt)
    if shared == len(prompt):
        return shared
    # The prompt goes on otherwise: what both share may end inside a word that only looks alike.
    borders = [stop for _, stop in tokens.find(whole.text, before, shared)]
    borders.append(whole.text.rfind("\n", before, shared) + 1)
    border = max((border for border in borders if before < border <= shared), default=None)
    return border if border is not None and (first is None or border <= first) else first


def _begin_after(whole: Conversation, number: int, before: str) -> int | None:
    """Returns where an answer begins of a template that writes no prompt for it, but `before` in its place."""
    return len(before) if whole.text.startswith(before) else _begin(whole, number, None, ControlTokens({}))


def header_of(template: LimitedTemplate, tokens: ControlTokens, role: str) -> str | None:
    """Returns what a template that knows no `add_generation_prompt` writes before an answer; None if it knows it.

    What it writes there without naming the role, or a control token, is part of the answer: a space, as in Llama 2.
    """
    question = {"role": "user", "content": _ASKED}
    asked = Dialogue([question]), Dialogue([question], generation_prompt=True)
    bare, prompted, answered = template.render_all([*asked, Dialogue([question, {"role": role, "content": _SAID}])])
    if not (isinstance(bare, Rendered) and isinstance(prompted, Rendered) and isinstance(answered, Rendered)):
        return None
    if bare.text != prompted.text:
        return None
    header, said, _ = answered.text.removeprefix(bare.text).partition(_SAID)
    is_one = said and answered.text.startswith(bare.text) and (role in header.lower() or tokens.spelled_in(header))
    return header if is_one else ""


def _shared(left: str, right: str) -> int:
    """Returns how many characters two texts begin with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low


def _end(whole: Conversation, number: int, written: int, alone: str | None, tokens: ControlTokens) -> int | None:
    """Returns where an answer ends, None if the text does not show it as it is `alone`, with nothing after it.

    written: where its last content ends. It ends with the last control token that the template writes after that.
    """
    after = min((content.start for content in whole.contents if content.message > number), default=len(whole.text))
    if alone is None:
        return next((stop for _, stop in tokens.find(whole.text, written, after)), written)
    stop = max([written, *(stop for _, stop in tokens.find(alone, min(written, len(alone)), len(alone)))])
    return stop if whole.text[:stop] == alone[:stop] and stop <= max(after, written) else None
