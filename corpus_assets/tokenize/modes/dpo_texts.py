"""Preference pairs as dialogues and as formatted texts, with the point where the answers begin.

A pair is one prompt and two answers to it. Formatting makes one text per side; its prompt text is what both sides
share and what is not learned (docs/formats/cerebras-rows.md "DPO").
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets.config.dataset_options import Cleaning
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.modes.chat_template import LIMIT, TemplateFault
from resources.errors import CorpusError
from resources.formats.examples import Example, Messages

Message = dict[str, Any]
Formatter = Callable[[Messages], str]
Formatted = str | TemplateFault
FormatAll = Callable[[Sequence[Messages]], list[Formatted]]

DEFAULT_DELIMITERS = ("[/INST]", "<|assistant|>")
# Noncharacters of Unicode: never part of a text that is meant for interchange.
PROBE = "\ufdd0"
MARK = "\ufdd1"


class UnusablePairError(CorpusError):
    """A preference pair that gives no row; `reason` is the key it is counted under."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"unusable preference pair: {reason}")
        self.reason = reason

    def __reduce__(self) -> tuple[type["UnusablePairError"], tuple[str]]:
        return (type(self), (self.reason,))


@dataclass(frozen=True)
class Roles:
    """Names of the two speakers in the data."""

    user: str = "user"
    assistant: str = "assistant"


@dataclass(frozen=True)
class Pair:
    """Messages of both sides, the answers included."""

    chosen: Messages
    rejected: Messages

    def with_contents(self, change: Callable[[str], str]) -> "Pair":
        """Returns the pair with every content changed."""
        return Pair(_with_contents(self.chosen, change), _with_contents(self.rejected, change))


def _with_contents(messages: Messages, change: Callable[[str], str]) -> Messages:
    return [{**m, "content": change(m["content"])} if m.get("content") else m for m in messages]


@dataclass(frozen=True)
class PairTexts:
    """Formatted prompt, and the formatted text of both sides that begins with it.

    `raw`: the text of both sides before cleaning. In the others, every control token that somebody wrote into a
    content stands between two `MARK`s: of the text split at the marks, each second part is plain text.
    """

    prompt: str
    chosen: str
    rejected: str
    raw: tuple[str, str]


def instruction_formatter(roles: Roles) -> Formatter:
    """Returns the `[INST]` style of tokenizers without a chat template; other roles but `system` give nothing."""
    styles = {roles.user: "[INST] {} [/INST] ", "system": "<<SYS>> {} <</SYS>> ", roles.assistant: "{}"}
    return lambda messages: "".join(styles.get(m["role"], "").replace("{}", m.get("content") or "") for m in messages)


def pair_of(example: Example, roles: Roles) -> Pair:
    """Returns the two dialogues of an example: equal up to the last message, which is the assistant's.

    An answer given as a string, or as messages without a user among them, continues the prompt; messages with a user
    among them are a whole dialogue and the prompt is not read. Without a prompt, two strings share the text up to
    the last `<assistant>:` (any case) of their common beginning. Raises UnusablePairError.
    """
    prompt, chosen, rejected = example.prompt, example.chosen, example.rejected
    if not chosen or not rejected:
        raise UnusablePairError("empty_response")
    if not prompt and isinstance(chosen, str) and isinstance(rejected, str):
        prompt, chosen, rejected = _cut_shared_prompt(chosen, rejected, roles.assistant)
    opening = _messages(prompt, roles.user) if prompt else []
    pair = Pair(_dialogue(opening, chosen, roles), _dialogue(opening, rejected, roles))
    for messages in (pair.chosen, pair.rejected):
        answer = messages[-1]
        if answer["role"] != roles.assistant:
            raise UnusablePairError("no_response")
        if not (answer.get("content") or "").strip():
            raise UnusablePairError("empty_response")
    if pair.chosen[:-1] != pair.rejected[:-1]:
        raise UnusablePairError("different_prompts")
    if len(pair.chosen) == 1:
        raise UnusablePairError("no_prompt")
    return pair


def reference_pair_of(example: Example, roles: Roles) -> Pair:
    """Returns the dialogues of Cerebras' Model Zoo: a prompt found in the chosen text stays in both answers."""
    prompt, chosen, rejected = example.prompt, example.chosen, example.rejected
    if not chosen or not rejected:
        raise UnusablePairError("empty_response")
    if isinstance(chosen, list) and isinstance(rejected, list):
        return Pair(_messages(chosen, roles.assistant), _messages(rejected, roles.assistant))
    if not isinstance(chosen, str) or not isinstance(rejected, str):
        raise UnusablePairError("odd_messages")
    if not prompt:
        prompt = chosen[: _speaker_end(chosen, roles.assistant)]
    opening = _messages(prompt, roles.user)
    return Pair(*(opening + _messages(answer, roles.assistant) for answer in (chosen, rejected)))


def _cut_shared_prompt(chosen: str, rejected: str, assistant: str) -> tuple[str, str, str]:
    shared = next((i for i, (a, b) in enumerate(zip(chosen, rejected, strict=False)) if a != b), None)
    try:
        end = _speaker_end(chosen[:shared], assistant) if shared is not None else _speaker_end(chosen, assistant)
    except UnusablePairError:
        if re.search(f"{re.escape(assistant)}:", chosen, re.IGNORECASE):
            raise UnusablePairError("different_prompts") from None
        raise
    return chosen[:end], chosen[end:].lstrip(), rejected[end:].lstrip()


def _speaker_end(text: str, assistant: str) -> int:
    """Returns where the last `<assistant>:` ends."""
    ends = [match.end() for match in re.finditer(f"{re.escape(assistant)}:", text, re.IGNORECASE)]
    if not ends:
        raise UnusablePairError("no_prompt")
    return ends[-1]


def _dialogue(opening: Messages, answer: str | Messages, roles: Roles) -> Messages:
    messages = _messages(answer, roles.assistant)
    continues = all(message["role"] != roles.user for message in messages)
    return opening + messages if continues else messages


def _messages(given: str | Messages, role: str) -> Messages:
    """Returns the messages after a check; a string is one message of the role."""
    messages: Messages = [{"role": role, "content": given}] if isinstance(given, str) else given
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        raise UnusablePairError("odd_messages")
    return messages


def _is_message(message: object) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    content = message.get("content")
    return content is None or (isinstance(content, str) and _is_text(content))


def _is_text(content: str) -> bool:
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return PROBE not in content and MARK not in content


def one_by_one(formatter: Formatter) -> FormatAll:
    """Returns the function of many dialogues that does each by itself."""

    def text(messages: Messages) -> str | TemplateFault:
        try:
            return formatter(messages)
        except TemplateFault as fault:
            return fault

    return lambda dialogues: list(map(text, dialogues))


@dataclass(frozen=True)
class Asked:
    """The dialogues that a pair has to be formatted as, and the function that makes its texts of theirs.

    The function raises UnusablePairError, or the TemplateFault of a dialogue that it needs.
    """

    dialogues: list[Messages]
    texts: Callable[[Sequence[Formatted]], PairTexts]


@dataclass(frozen=True)
class Formatting:
    """How examples become text; `delimiter`: what the answer begins with, None for `DEFAULT_DELIMITERS`.

    `control`: pattern of the tokenizer's control tokens, which contents must not be able to write. What formats the
    dialogues writes no header for an answer that is still to come.
    """

    cleaning: Cleaning
    roles: Roles
    delimiter: str | None
    control: re.Pattern[str]

    def asked(self, example: Example) -> Asked:
        """Returns what the texts of an example with cleaned contents need, which are cut where the answers begin.

        Raises UnusablePairError.
        """
        raw = pair_of(example, self.roles)
        pair = raw.with_contents(lambda text: clean(text, self.cleaning))
        marked = pair.with_contents(self._mark)
        opening, answer = marked.chosen[:-1], marked.chosen[-1]
        dialogues = [marked.chosen, marked.rejected, opening, [*opening, {**answer, "content": PROBE}]]

        def texts(formatted: Sequence[Formatted]) -> PairTexts:
            chosen, rejected = map(_given, formatted[:2])
            prompt = self._prompt_text(chosen, rejected, *formatted[2:4])
            first, second = map(_given, formatted[-2:] if marked != raw else formatted[:2])
            return PairTexts(prompt, chosen, rejected, (first, second))

        return Asked([*dialogues, *([raw.chosen, raw.rejected] if marked != raw else ())], texts)

    def asked_by_reference(self, example: Example) -> Asked:
        """Returns what the texts need as Cerebras makes them: cleaned whole, cut before the chosen's last delimiter."""
        pair = reference_pair_of(example, self.roles)

        def texts(formatted: Sequence[Formatted]) -> PairTexts:
            first, second = map(_given, formatted)
            chosen, rejected = (clean(text, self.cleaning) for text in (first, second))
            found = max(map(chosen.rfind, self._delimiters))
            if found < 0:
                raise UnusablePairError("no_delimiter")
            return PairTexts(chosen[:found], chosen, rejected, (first, second))

        return Asked([pair.chosen, pair.rejected], texts)

    @property
    def _delimiters(self) -> tuple[str, ...]:
        return (self.delimiter,) if self.delimiter else DEFAULT_DELIMITERS

    def _mark(self, text: str) -> str:
        return self.control.sub(lambda match: f"{MARK}{match[0]}{MARK}", text)

    def _prompt_text(self, chosen: str, rejected: str, opening: Formatted, probed: Formatted) -> str:
        """Returns what the template writes before the content of the answers; no answer can move its end.

        It follows from the prompt alone, and from the dialogue with a probe in the place of the answer. The part from
        the delimiter on belongs to the answer, if the header of the answer, or else the very end of the prompt, has it.
        """
        turns = _or_nothing(opening)
        before_answer, written, _ = _given(probed).partition(PROBE)
        if not written:
            raise UnusablePairError("template_drops_answer")
        for head in filter(None, (before_answer, turns)):
            if chosen.startswith(head) and rejected.startswith(head):
                header = len(turns) if turns and head.startswith(turns) else len(head)
                return head[: self._delimiter_start(head, header)]
        raise UnusablePairError("template_changes_prompt")

    def _delimiter_start(self, head: str, header: int) -> int:
        found = max(head.rfind(text, header) for text in self._delimiters)
        if found >= 0:
            return found
        end = head.rstrip()
        return min((len(end) - len(text) for text in self._delimiters if end.endswith(text)), default=len(head))


def _given(formatted: Formatted) -> str:
    if isinstance(formatted, TemplateFault):
        raise formatted
    return formatted


def _or_nothing(formatted: Formatted) -> str:
    """Returns nothing for the fault of a template that only takes dialogues with an answer."""
    if isinstance(formatted, TemplateFault) and formatted.reason != LIMIT:
        return ""
    return _given(formatted)


def control_pattern(tokens: Iterable[str]) -> re.Pattern[str]:
    """Returns the pattern that finds the control tokens in a text, the longest first."""
    longest_first = sorted(filter(None, tokens), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
