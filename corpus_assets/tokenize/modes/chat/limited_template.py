"""Chat templates rendered in a process of their own, with limits on CPU time and memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat.dialogues import LIMIT, Cut, Dialogue, Rendered, TemplateFault
from corpus_assets.tokenize.modes.chat.template_server import Answered, Asked, Part, Start, part_of
from resources.errors import ConfigError, CorpusError
from resources.formats.examples import Example
from resources.processes.limited_process import LimitedProcess, OverLimitError
from resources.processes.limited_work import Limits

LIMITS = Limits()
MAX_OVER_LIMIT = 10
"""Most conversations of a partition that may exceed the limits; with more the template would take for ever."""
_BLOCK = 1 << 20
_CONVERSATION = 1 << 10  # The overhead of rendering a conversation, in characters.
_SERVER = "corpus_assets.tokenize.modes.chat.template_server"
_ANSWERS = msgspec.json.Decoder(list[Answered])
_TRIAL = Dialogue([{"role": "user", "content": "One?"}, {"role": "assistant", "content": "Two."}])

Found = Rendered | TemplateFault
Parts = Sequence[Part | None]


class LimitedTemplate:
    """A template with values besides the messages; `day` is the result of `strftime_now`.

    ConfigError if the source is no template, needs the day and none was fixed, or costs too much to compile.
    """

    def __init__(
        self, source: str, values: Mapping[str, Any], *, day: date | None = None, limits: Limits = LIMITS
    ) -> None:
        start = msgspec.json.encode(Start(source, dict(values), day))
        self._process = LimitedProcess(_SERVER, start, limits)
        try:
            problem = msgspec.json.decode(self._process.begin(), type=str)
        except OverLimitError as fault:
            raise ConfigError(f"chat template cannot be compiled: {fault}") from None
        if problem:
            self.close()
            raise ConfigError(problem)

    def render_all(self, dialogues: Sequence[Dialogue]) -> list[Found]:
        """Returns the text of each dialogue, or the fault for which it has none: see `ChatTemplate.render`."""
        return [found for found, _ in self.render_cut([Asked(dialogue) for dialogue in dialogues])]

    def render_cut(self, asked: Sequence[Asked]) -> list[tuple[Found, Parts]]:
        """Returns the text of each dialogue with those of its cuts, or the fault for which it has none.

        If they exceed the limits together, each text is rendered separately, so that none depends on the others.
        """
        if not asked:
            return []
        try:
            return self._ask(asked)
        except OverLimitError as fault:
            if len(asked) > 1:
                return [found for one in asked for found in self.render_cut([one])]
            if asked[0].cuts:
                return [self._one_by_one(*asked[0])]
            return [(TemplateFault(LIMIT, str(fault)), ())]

    def _one_by_one(self, dialogue: Dialogue, cuts: Sequence[Cut]) -> tuple[Found, Parts]:
        (whole,) = self.render_all([dialogue])
        if isinstance(whole, TemplateFault):
            return whole, ()
        texts = [self.render_all([cut.of(dialogue)])[0] for cut in cuts]
        return whole, [part_of(found.text, whole.text) if isinstance(found, Rendered) else None for found in texts]

    def render(self, dialogue: Dialogue) -> Rendered:
        """Returns the text of one dialogue; raises its TemplateFault."""
        (found,) = self.render_all([dialogue])
        return given(found)

    def close(self) -> None:
        """Ends the process."""
        self._process.close()

    def _ask(self, asked: Sequence[Asked]) -> list[tuple[Found, Parts]]:
        answers = _ANSWERS.decode(self._process.ask(msgspec.json.encode(asked)))
        return [
            (Rendered(answer.text, answer.generated), answer.parts)
            if answer.reason is None
            else (TemplateFault(answer.reason, answer.problem), ())
            for answer in answers
        ]


def given(found: Found) -> Rendered:
    """Returns the rendered text, or raises its fault."""
    if isinstance(found, TemplateFault):
        raise found
    return found


@lru_cache(maxsize=4)
def _opened(start: bytes, limits: Limits) -> LimitedTemplate:
    """Returns an open template, since a worker makes many partitions with one."""
    asked = msgspec.json.decode(start, type=Start)
    return LimitedTemplate(asked.source, asked.values, day=asked.day, limits=limits)


def open_template(source: str, values: Mapping[str, Any], day: date | None = None) -> LimitedTemplate:
    """Returns a template, which stays open for the next call with the same arguments. Raises like `LimitedTemplate`."""
    return _opened(msgspec.json.encode(Start(source, dict(values), day)), LIMITS)


def try_template(source: str, values: Mapping[str, Any], day: date | None = None) -> None:
    """Raises ConfigError for a template that cannot be used, or costs too much even for one question and answer."""
    (found,) = open_template(source, values, day).render_all([_TRIAL])
    if isinstance(found, TemplateFault) and found.reason == LIMIT:
        raise ConfigError(f"chat template costs too much for one question and answer: {found.problem}")


def template_blocks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Yields lists of examples whose texts are rendered together, since a request costs more than rendering one."""
    block, held = list[Example](), 0
    for example in examples:
        block.append(example)
        held += _CONVERSATION + _characters(example)
        if held >= _BLOCK:
            yield block
            block, held = [], 0
    if block:
        yield block


def _characters(example: Example) -> int:
    """Returns about how long the texts of an example are, which may be of any shape."""
    fields = (example.prompt, example.completion, example.messages, example.chosen, example.rejected)
    return sum(_length(field) for field in fields if field is not None)


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum([_length(item) for item in value.values()])
    return sum([_length(item) for item in value]) if isinstance(value, list) else 1


def count_fault(statistics: Statistics, reason: str, example: Example, shown: Iterable[str] = ()) -> None:
    """Counts an example that gives no row. shown: the example in words.

    Raises CorpusError with its name if too many cost too much.
    """
    statistics.discard_document(reason, shown=shown)
    if reason == LIMIT and (over := statistics.discarded_documents[LIMIT]) > MAX_OVER_LIMIT:
        raise CorpusError(
            f"the chat template takes too much time or memory for {over} conversations, the last of which is "
            f"{example.source}/{example.id}; valid: at most {MAX_OVER_LIMIT} in a file"
        )
