"""Finds where the answers of a rendered conversation begin and end, including the end of turn.

The template shows it. The messages before an answer, rendered with the prompt for it (`add_generation_prompt`), end
where the model begins to write. The messages up to the answer, rendered alone, hold all that it writes. If later turns
change how an answer is rendered (reasoning that is left out of a history, another token at the end of the last turn),
the model would not write it like that: such an answer is learned in a separate text that ends with it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from corpus_assets.tokenize.modes.chat.alignment import Content, Conversation
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import Cut, Dialogue, Rendered
from corpus_assets.tokenize.modes.chat.limited_template import LimitedTemplate, Parts
from corpus_assets.tokenize.modes.chat.masking import ASKING_ROLES
from corpus_assets.tokenize.modes.chat.template_server import Part

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

    cuts: of the dialogue, those that have to be rendered.
    """

    def __init__(self, dialogue: Dialogue, wanted: Collection[int], style: "Style") -> None:
        self._style = style
        self._wanted = sorted(wanted)
        messages = dialogue.messages
        self._prompts = [
            number for number in self._wanted if number and messages[number].get("role") not in ASKING_ROLES
        ]
        self._ends = [number for number in self._wanted if number != len(messages) - 1]
        prompts = [Cut(number, generation_prompt=True) for number in self._prompts]
        self.cuts = [*prompts, *(Cut(number + 1) for number in self._ends)]

    def found(self, whole: Conversation, rendered: Parts, tokens: ControlTokens) -> Answers:
        """Returns the answers in the text of the dialogue. rendered: what the template gave for `cuts`."""
        prompts = dict(zip(self._prompts, rendered, strict=False))
        ends = dict(zip(self._ends, rendered[len(self._prompts) :], strict=True))
        places = _Places(whole)
        found, rewritten = list[Answer](), list[int]()
        for number in self._wanted:
            texts = places.texts.get(number)
            if texts is None:
                continue
            start = self._begin(places, number, prompts.get(number), tokens)
            alone = ends[number] if number in ends else Part(len(whole.text), "")
            # A later turn may repeat it: the answer of a tool begins with the name of the call.
            own = [content for content in texts if alone is None or content.stop <= alone.shared + len(alone.rest)]
            written = max(start, (own or texts)[-1].stop)
            stop = self._end(places, (number, written), alone, tokens)
            if stop is None:
                rewritten.append(number)
            else:
                found.append(Answer(number, start, stop))
        return Answers(tuple(found), tuple(rewritten))

    def _begin(self, places: "_Places", number: int, prompt: Part | None, tokens: ControlTokens) -> int:
        header = self._style.header
        if header is None or prompt is None:
            return _begin(places, number, prompt, tokens)
        if not prompt.rest and places.text.startswith(header, prompt.shared):
            return prompt.shared + len(header)
        return _begin(places, number, None, tokens)

    def _end(self, places: "_Places", answer: tuple[int, int], alone: Part | None, tokens: ControlTokens) -> int | None:
        """Returns where an answer ends, None if the text does not show it as it is `alone`, with nothing after it.

        answer: its message, and where its last content ends. It ends with the first `end` that the template writes
        after that, or else, for answers of another kind, with the last control token there.
        """
        number, written = answer
        after = places.after(number)
        if alone is None:
            return next((stop for _, stop in tokens.find(places.text, written, after)), written)
        text = places.text[: alone.shared] + alone.rest if alone.rest else places.text
        length = alone.shared + len(alone.rest)
        found = list(tokens.find(text, min(written, length), length))
        ends = [stop for start, stop in found if text[start:stop] == self._style.end] or [
            stop for _, stop in found[-1:]
        ]
        stop = max([written, *ends[:1]])
        return stop if stop <= alone.shared and stop <= max(after, written) else None


class _Places:
    """A text, and where the contents of its messages lie."""

    def __init__(self, whole: Conversation) -> None:
        self.text = whole.text
        self.texts: dict[int, list[Content]] = {}
        for content in whole.contents:
            self.texts.setdefault(content.message, []).append(content)
        numbers = sorted(self.texts)
        lasts = accumulate((self.texts[number][-1].stop for number in numbers), max, initial=0)
        firsts = accumulate((self.texts[number][0].start for number in reversed(numbers)), min, initial=len(self.text))
        self._before = dict(zip(numbers, lasts, strict=False))
        self._after = dict(zip(reversed(numbers), firsts, strict=False))

    def before(self, number: int) -> int:
        """Returns where the contents of the messages before one end that has contents."""
        return self._before[number]

    def after(self, number: int) -> int:
        """Returns where the contents of the messages after one begin that has contents."""
        return self._after[number]


def _begin(places: _Places, number: int, prompt: Part | None, tokens: ControlTokens) -> int:
    """Returns where an answer begins: after the prompt for it, or else with its first content."""
    first = places.texts[number][0].start
    if prompt is None:
        return first
    shared = prompt.shared
    if not prompt.rest:
        return shared
    # The prompt goes on otherwise: what both share may end inside a word that only looks alike.
    before = places.before(number)
    borders = [stop for _, stop in tokens.find(places.text, before, shared)]
    borders.append(places.text.rfind("\n", before, shared) + 1)
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
