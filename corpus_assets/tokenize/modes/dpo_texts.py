"""Preference pairs as formatted texts, with the point where the answers begin.

Formatting makes one text per side; its prompt text is what both sides share and what is not learned
(docs/formats/cerebras-rows.md "DPO").
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.modes.chat.alignment import name_fault
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import LIMIT, Dialogue, Reads, TemplateFault
from corpus_assets.tokenize.modes.chat.input import beside_of
from corpus_assets.tokenize.modes.chat.masking import REASONING
from corpus_assets.tokenize.modes.dpo_pairs import (
    CLOSE,
    OPEN,
    PROBE,
    Pair,
    Roles,
    UnusablePairError,
    pair_of,
    reference_pair_of,
)
from corpus_assets.tokenize.modes.turns import TurnsError
from resources.formats.examples import Example, Messages

Formatter = Callable[[Messages], str]
Formatted = str | TemplateFault
FormatAll = Callable[[Sequence[Dialogue]], list[Formatted]]
Fault = UnusablePairError | TemplateFault | TurnsError
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Writing:
    """What formats dialogues; `read`: what it reads, None for all. delimiters: what its answers begin with."""

    format_all: FormatAll
    read: Reads | None = None
    delimiters: tuple[str, ...] = ()


DEFAULT_DELIMITERS = ("[/INST]", "<|assistant|>")


@dataclass(frozen=True)
class PairTexts:
    """Formatted prompt, and the formatted text of both sides that begins with it.

    `raw`: the text of both sides before cleaning. In the others, every control token that somebody wrote into a
    content stands between marks (`MARKED`).
    """

    prompt: str
    chosen: str
    rejected: str
    raw: tuple[str, str]


def instruction_formatter(roles: Roles) -> Formatter:
    """Returns the `[INST]` style of tokenizers without a chat template; other roles but `system` give nothing."""
    styles = {roles.user: "[INST] {} [/INST] ", "system": "<<SYS>> {} <</SYS>> ", roles.assistant: "{}"}
    return lambda messages: "".join(styles.get(m["role"], "").replace("{}", m.get("content") or "") for m in messages)


def one_by_one(formatter: Formatter) -> FormatAll:
    """Returns the function of many dialogues that does each by itself."""

    def text(dialogue: Dialogue) -> str | TemplateFault:
        try:
            return formatter(dialogue.messages)
        except TemplateFault as fault:
            return fault

    return lambda dialogues: list(map(text, dialogues))


@dataclass(frozen=True)
class Asked:
    """The dialogues that a pair has to be formatted as, and the function that makes its texts of theirs.

    The function raises UnusablePairError, or the TemplateFault of a dialogue that it needs. unread: keys of the row
    that nothing reads.
    """

    dialogues: list[Dialogue]
    texts: Callable[[Sequence[Formatted]], PairTexts]
    unread: Sequence[str] = ()


@dataclass(frozen=True)
class Formatting:
    """How examples become text; `delimiters`: what the answer begins with, if the template writes it before an answer.

    `control`: the tokenizer's control tokens, which contents must not be able to write. `keep_equal`: two equal
    responses are a pair. `read`: what a template reads, None for all.
    """

    cleaning: Cleaning
    roles: Roles
    delimiters: tuple[str, ...]
    control: ControlTokens
    keep_equal: bool = True
    read: Reads | None = None

    def asked(self, example: Example) -> Asked:
        """Returns what the texts of an example with cleaned contents need, which are cut where the answers begin.

        Raises UnusablePairError, or the fault of what the row says beside the messages.
        """
        given = pair_of(example, self.roles)
        if not self.keep_equal and given.chosen == given.rejected:
            raise UnusablePairError("equal_responses")
        beside = beside_of(example, self.read)
        before, unread = beside.before(given.chosen), beside.unread_with(given.chosen)
        raw = Pair([*before, *given.chosen], [*before, *given.rejected])
        for messages in (raw.chosen, raw.rejected):
            if fault := name_fault(Dialogue(messages, beside.values), self.control):
                raise fault
        pair = raw.with_contents(lambda text: clean(text, self.cleaning))
        marked = pair.with_texts(self._mark)
        opening, answer = marked.chosen[:-1], marked.chosen[-1]
        dialogues = [marked.chosen, marked.rejected, opening, [*opening, {**answer, "content": PROBE}]]

        def texts(formatted: Sequence[Formatted]) -> PairTexts:
            chosen, rejected = map(_given, formatted[:2])
            prompt = self._prompt_text(chosen, rejected, *formatted[2:5])
            first, second = map(_given, formatted[-2:] if marked != raw else formatted[:2])
            return PairTexts(prompt, self._ended(chosen), self._ended(rejected), (first, second))

        asked = [Dialogue(messages, beside.values) for messages in dialogues]
        asked.append(Dialogue(opening, beside.values, generation_prompt=True))
        if marked != raw:
            asked += [Dialogue(messages, beside.values) for messages in (raw.chosen, raw.rejected)]
        return Asked(asked, texts, unread)

    def asked_by_reference(self, example: Example) -> Asked:
        """Returns what the texts need as Cerebras makes them: cleaned whole, cut before the chosen's last delimiter."""
        pair = reference_pair_of(example, self.roles)

        def texts(formatted: Sequence[Formatted]) -> PairTexts:
            first, second = map(_given, formatted)
            chosen, rejected = (clean(text, self.cleaning) for text in (first, second))
            found = max(map(chosen.rfind, self.delimiters))
            if found < 0:
                raise UnusablePairError("no_delimiter")
            return PairTexts(chosen[:found], chosen, rejected, (first, second))

        return Asked([Dialogue(pair.chosen), Dialogue(pair.rejected)], texts)

    def _ended(self, text: str) -> str:
        """Returns a text up to the control token that ends it, without the white space that a template puts after."""
        bare = text.rstrip()
        ends = [stop for _, stop in self.control.find(bare, 0, len(bare))]
        return bare if ends[-1:] == [len(bare)] else text

    def _mark(self, text: str, reasons: bool) -> str:
        """Returns a text with marks around control tokens, but for the tags of reasoning: templates look for them."""
        parts = list[str]()
        before = 0
        for start, stop in self.control.find(text, 0, len(text)):
            token = text[start:stop]
            kept = reasons and REASONING.fullmatch(token) is not None
            parts += [text[before:start], token if kept else f"{OPEN}{token}{CLOSE}"]
            before = stop
        return "".join([*parts, text[before:]])

    def _prompt_text(
        self, chosen: str, rejected: str, opening: Formatted, probed: Formatted, prompted: Formatted
    ) -> str:
        """Returns what the template writes before what the model has to say; no answer can move its end.

        It is the prompt for an answer, if the template knows one and both texts begin with it; else it follows from
        the dialogue with a probe in the place of the answer. The part from the delimiter on belongs to the answer, if
        the header of the answer, or else the very end of the prompt, has it.
        """
        turns, asked = _or_nothing(opening), _or_nothing(prompted)
        before_answer, written, _ = _given(probed).partition(PROBE)
        if not written:
            raise UnusablePairError("template_drops_answer")
        for head in filter(None, (asked if asked != turns else "", before_answer, turns)):
            if chosen.startswith(head) and rejected.startswith(head):
                header = len(turns) if turns and head.startswith(turns) else len(head)
                return head[: self._delimiter_start(head, header)]
        raise UnusablePairError("template_changes_prompt")

    def _delimiter_start(self, head: str, header: int) -> int:
        found = max((head.rfind(text, header) for text in self.delimiters), default=-1)
        if found >= 0:
            return found
        end = head.rstrip()
        return min((len(end) - len(text) for text in self.delimiters if end.endswith(text)), default=len(head))


def formatted_pairs(
    block: Sequence[Example],
    asked_of: Callable[[Example], Asked],
    format_all: FormatAll,
    note_unread: Callable[[Iterable[str]], None],
) -> Iterator[PairTexts | Fault]:
    """Yields the texts of each example, or the fault for which it has none; all dialogues are formatted at once.

    note_unread: takes the keys of a row that nothing reads.
    """
    asked = [_tried(asked_of, example) for example in block]
    dialogues = [one for pair in asked if isinstance(pair, Asked) for one in pair.dialogues]
    formatted = iter(format_all(dialogues))
    for pair in asked:
        if isinstance(pair, Asked):
            note_unread(pair.unread)
            yield _tried(pair.texts, list(islice(formatted, len(pair.dialogues))))
        else:
            yield pair


def _tried(do: Callable[[T], U], given: T) -> U | Fault:
    try:
        return do(given)
    except (UnusablePairError, TemplateFault, TurnsError) as fault:
        return fault


def _given(formatted: Formatted) -> str:
    if isinstance(formatted, TemplateFault):
        raise formatted
    return formatted


def _or_nothing(formatted: Formatted) -> str:
    """Returns nothing for the fault of a template that only takes dialogues with an answer."""
    if isinstance(formatted, TemplateFault) and formatted.reason != LIMIT:
        return ""
    return _given(formatted)
