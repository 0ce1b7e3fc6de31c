"""Finds where the answers of a rendered conversation begin and end, including the end of turn.

The template shows it. The messages before an answer, rendered with the prompt for it (`add_generation_prompt`), end
where the model begins to write. The messages up to the answer, rendered alone, hold all that it writes. If later turns
change how an answer is rendered (reasoning that is left out of a history, another token at the end of the last turn),
the model would not write it like that: such an answer is learned in a separate text that ends with it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus_assets.tokenize.modes.chat.alignment import ASKING_ROLES, ControlTokens, Conversation
from corpus_assets.tokenize.modes.chat.limited_template import Found as Rendering
from corpus_assets.tokenize.modes.chat.limited_template import LimitedTemplate
from corpus_assets.tokenize.modes.chat.template import Dialogue, Rendered

# Noncharacters: no token holds them.
_ASKED, _SAID = "\ufdd2", "\ufdd3"


class Answer(NamedTuple):
    """text[start:stop] is the text that the model writes in message number `message`."""

    message: int
    start: int
    stop: int


@dataclass(frozen=True)
class Answers:
    """The learned answers of a text, and the messages whose answers it shows in a changed form."""

    found: tuple[Answer, ...] = ()
    rewritten: tuple[int, ...] = ()


class Asking:
    """The messages of a dialogue that are to be learned, with what has to be rendered to find them in its text.

    A message of which the template writes no text is no answer.
    """

    def __init__(self, dialogue: Dialogue, wanted: Collection[int], style: "Style") -> None:
        self._dialogue = dialogue
        self._style = style
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
            texts = [content for content in whole.contents if content.message == number]
            if not texts:
                continue
            start = self._begin(whole, number, prompts.get(number), tokens)
            alone = whole.text if number not in self._ends else ends.get(number)
            # A later turn may repeat it: the answer of a tool begins with the name of the call.
            own = [content for content in texts if alone is None or content.stop <= len(alone)]
            written = max(start, (own or texts)[-1].stop)
            stop = self._end(whole, (number, written), alone, tokens)
            if stop is None:
                rewritten.append(number)
            else:
                found.append(Answer(number, start, stop))
        return Answers(tuple(found), tuple(rewritten))

    def _begin(self, whole: Conversation, number: int, prompt: str | None, tokens: ControlTokens) -> int:
        header = self._style.header
        if header is None or prompt is None:
            return _begin(whole, number, prompt, tokens)
        before = prompt + header
        return len(before) if whole.text.startswith(before) else _begin(whole, number, None, tokens)

    def _end(
        self, whole: Conversation, answer: tuple[int, int], alone: str | None, tokens: ControlTokens
    ) -> int | None:
        """Returns where an answer ends, None if the text does not show it as it is `alone`, with nothing after it.

        answer: its message, and where its last content ends. It ends with the first `end` that the template writes
        after that, or else, for answers of another kind, with the last control token there.
        """
        number, written = answer
        after = min((content.start for content in whole.contents if content.message > number), default=len(whole.text))
        if alone is None:
            return next((stop for _, stop in tokens.find(whole.text, written, after)), written)
        found = list(tokens.find(alone, min(written, len(alone)), len(alone)))
        ends = [stop for start, stop in found if alone[start:stop] == self._style.end] or [
            stop for _, stop in found[-1:]
        ]
        stop = max([written, *ends[:1]])
        return stop if whole.text[:stop] == alone[:stop] and stop <= max(after, written) else None


def _texts(rendered: Mapping[int, Rendering]) -> dict[int, str]:
    return {number: found.text for number, found in rendered.items() if isinstance(found, Rendered)}


def _begin(whole: Conversation, number: int, prompt: str | None, tokens: ControlTokens) -> int:
    """Returns where an answer begins: after the prompt for it, or else with its first content."""
    first = min(content.start for content in whole.contents if content.message == number)
    if prompt is None:
        return first
    before = max((content.stop for content in whole.contents if content.message < number), default=0)
    shared = _shared(whole.text, prompt)
    if shared == len(prompt):
        return shared
    # The prompt goes on otherwise: what both share may end inside a word that only looks alike.
    borders = [stop for _, stop in tokens.find(whole.text, before, shared)]
    borders.append(whole.text.rfind("\n", before, shared) + 1)
    border = max((border for border in borders if before < border <= min(shared, first)), default=None)
    return first if border is None else border


@dataclass(frozen=True)
class Style:
    """How a template writes answers.

    header: the text before an answer for a template without `add_generation_prompt`; else None. Text there without the
    role or a control token is part of the answer, such as the space in Llama 2. end: the control token that ends an
    answer consisting of text only.
    """

    header: str | None = None
    end: str | None = None

    @classmethod
    def of(cls, template: LimitedTemplate, tokens: ControlTokens, role: str) -> "Style":
        """Returns the style of a template; role: who answers."""
        question = {"role": "user", "content": _ASKED}
        asked = Dialogue([question]), Dialogue([question], generation_prompt=True)
        bare, prompted, answered = template.render_all([*asked, Dialogue([question, {"role": role, "content": _SAID}])])
        if not isinstance(answered, Rendered):
            return cls()
        before, _, after = answered.text.partition(_SAID)
        end = next((after[start:stop] for start, stop in tokens.find(after, 0, len(after))), None)
        if not isinstance(bare, Rendered) or not isinstance(prompted, Rendered) or bare.text != prompted.text:
            return cls(end=end)
        header = before.removeprefix(bare.text) if before.startswith(bare.text) else ""
        return cls(header if role in header.lower() or tokens.spelled_in(header) else "", end)


def _shared(left: str, right: str) -> int:
    """Returns how many characters two texts begin with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low
