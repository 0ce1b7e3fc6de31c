"""Rows for direct preference optimization: one prompt with a chosen and a rejected response.

Rafailov et al. 2023; the layout of the six channels is that of docs/formats/cerebras-rows.md "DPO".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from corpus_assets.tokenize.encode.cleaning import CleaningSettings
from corpus_assets.tokenize.modes.chat_template import TemplateFault
from corpus_assets.tokenize.modes.dpo_texts import (
    MARK,
    Formatter,
    Formatting,
    PairTexts,
    Roles,
    UnusablePairError,
    control_pattern,
    instruction_formatter,
)
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ids, Ragged
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example

BATCH_CHARACTERS = 1 << 20
CHANNELS = 6


@dataclass(frozen=True)
class DPOSettings:
    """How preference pairs become rows; names after docs/formats/cerebras-hdf5.md "Parameter names".

    sequence_length: L, positions per side.
    max_prompt_length: ids that a prompt may claim from a pair that does not fit. A shorter response leaves it more; a
    shorter prompt leaves the responses more.
    response_delimiter: text that begins the response (None: the later of `[/INST]` and `<|assistant|>`). It is
    looked for where the template puts it, never in what somebody wrote.
    user_role, assistant_role: names of the speakers in the messages and in dialogues written as one text.
    reference: as the original, defects included (docs/formats/cerebras-rows.md "Defect: DPO rows"):
    a prompt found in the chosen text stands there
    twice; the last delimiter counts, wherever it is; a prompt that is too long keeps `max_prompt_length` ids and no
    begin-of-text id; a response that is cut is cut to L - `max_prompt_length` ids, and its last loss position has
    padding as label. Control tokens in contents are then matched.
    """

    sequence_length: int
    max_prompt_length: int = 512
    response_delimiter: str | None = None
    user_role: str = "user"
    assistant_role: str = "assistant"
    reference: bool = False

    def __post_init__(self) -> None:
        length = self.sequence_length
        if length < 2:
            raise ConfigError(f"sequence_length is {length}; valid: 2 or more")
        if not 1 <= self.max_prompt_length < length:
            raise ConfigError(
                f"max_prompt_length is {self.max_prompt_length}; valid: 1 to {length - 1} (sequence_length - 1)"
            )
        if self.response_delimiter == "":
            raise ConfigError("response_delimiter is empty; valid: text, or none")
        if not self.user_role or not self.assistant_role or self.user_role == self.assistant_role:
            raise ConfigError(
                f"user_role is {self.user_role!r}, assistant_role {self.assistant_role!r}; valid: two different names"
            )

    @property
    def roles(self) -> Roles:
        """The two speakers."""
        return Roles(self.user_role, self.assistant_role)


@dataclass(frozen=True)
class Side:
    """Ids of one answer: the prompt, begin-of-text id included, and the response with its end-of-text id."""

    prompt: Ids
    response: Ids
    cut: bool = False

    def __len__(self) -> int:
        return self.prompt.size + self.response.size


def dpo_rows(
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    settings: DPOSettings,
    statistics: Statistics,
    *,
    formatter: Formatter | None = None,
    cleaning: CleaningSettings | None = None,
) -> Iterator[Ids]:
    """Rows of preference examples as int32 blocks (rows, 6, L): inputs, loss mask, labels of chosen, then rejected.

    One row per usable pair, in order. Labels are the inputs shifted left; the loss covers the labels that are response
    ids, the end-of-text id included. `formatter` makes text of messages, without a header for an answer that is still
    to come (None: the `[INST]` style). Cleaning is done to every content (reference: to the formatted text).

    A pair that does not fit loses prompt ids from the start (the begin-of-text id stays), as many as needed while
    `max_prompt_length` are left, and only then response ids from the end, with the end-of-text id: what is cut
    does not end there. Both sides have the same prompt ids.

    A pair that cannot be used is counted in `discarded_documents`: empty_response, no_prompt, no_response (the
    last message is not the assistant's), different_prompts, odd_messages, template_changes_prompt,
    template_drops_answer, or the reason of a `TemplateFault`; of the reference also no_delimiter.

    In `statistics` every row has 2 L positions (the original counts all six channels), and `document_tokens` =
    `non_pad_tokens` + `dropped_tokens` (prompt_cut, response_cut).
    """
    formatter = formatter or instruction_formatter(settings.roles)
    builder = _Builder(tokenizer, settings, statistics, formatter, cleaning or CleaningSettings())
    limit = max(1, BLOCK_TOKENS // (2 * settings.sequence_length))
    sides: list[tuple[Side, Side]] = []
    for texts in builder.batches(examples):
        sides += builder.sides(texts)
        while len(sides) >= limit:
            yield builder.block(sides[:limit])
            del sides[:limit]
    if sides:
        yield builder.block(sides)


class _Builder:
    def __init__(
        self,
        tokenizer: Tokenizer,
        settings: DPOSettings,
        statistics: Statistics,
        formatter: Formatter,
        cleaning: CleaningSettings,
    ) -> None:
        self._tokenizer = tokenizer
        self._control = control_pattern(tokenizer.special_tokens)
        self._settings = settings
        self._statistics = statistics
        formatting = Formatting(formatter, cleaning, settings.roles, settings.response_delimiter, self._control)
        self._texts = formatting.reference_texts if settings.reference else formatting.texts
        begin = tokenizer.bos_id if tokenizer.bos_id is not None else tokenizer.eos_id
        self._begin = np.array([] if begin is None else [begin], np.int32)
        self._end = np.array([] if tokenizer.eos_id is None else [tokenizer.eos_id], np.int32)

    def batches(self, examples: Iterable[Example]) -> Iterator[list[PairTexts]]:
        """Texts of the usable examples, about `BATCH_CHARACTERS` at a time."""
        batch: list[PairTexts] = []
        characters = 0
        for example in examples:
            self._statistics.processed_files += 1
            try:
                texts = self._texts(example)
            except (UnusablePairError, TemplateFault) as fault:
                self._statistics.discard_document(fault.reason)
                continue
            for raw, text in zip(texts.raw, (texts.chosen, texts.rejected), strict=True):
                self._statistics.add_text(raw, text.replace(MARK, ""))
            batch.append(texts)
            characters += len(texts.chosen) + len(texts.rejected)
            if characters >= BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
        if batch:
            yield batch

    def sides(self, batch: Sequence[PairTexts]) -> Iterator[tuple[Side, Side]]:
        """Ids of both sides, cut to the sequence length; reference: without the pairs that the original stops at."""
        texts = [text for pair in batch for text in (pair.prompt, pair.chosen, pair.rejected)]
        reference = self._settings.reference
        ids = Ragged.of(map(self._tokenizer.encode_trusted, texts)) if reference else self._encode(texts)
        for first in range(0, len(texts), 3):
            prompt, *answers = (ids[first + offset] for offset in range(3))
            try:
                pair = (
                    self._reference_split(prompt, *answers)
                    if self._settings.reference
                    else self._split(prompt, *answers)
                )
            except UnusablePairError as unusable:
                self._statistics.discard_document(unusable.reason)
                continue
            yield self._fitted(pair)

    def _encode(self, texts: Sequence[str]) -> Ragged:
        """Ids in which control tokens are those of the template alone; what has none is encoded as one batch."""
        rows = [self._parts(text) for text in texts]
        plain = iter(self._tokenizer.encode_plain([part for row in rows for part, matched in row if not matched]))
        encode = self._tokenizer.encode_trusted
        return Ragged.of(
            np.concatenate([encode(part, bos=False) if matched else next(plain) for part, matched in row])
            for row in rows
        )

    def _parts(self, text: str) -> list[tuple[str, bool]]:
        """The parts between marks, and whether each has control tokens to match."""
        parts = enumerate(text.split(MARK))
        return [(part, n % 2 == 0 and self._control.search(part) is not None) for n, part in parts]

    def _split(self, prompt: Ids, chosen: Ids, rejected: Ids) -> tuple[Side, Side]:
        """A token across the border belongs to the response, on both sides if on one."""
        size = min(_common_prefix(prompt, chosen), _common_prefix(prompt, rejected))
        shared = prompt[:size]
        if not np.array_equal(shared[:1], self._begin):  # some templates write it themselves
            shared = np.concatenate([self._begin, shared])
        sides = []
        for ids in (chosen, rejected):
            closed = np.array_equal(ids[-1:], self._end)
            sides.append(Side(shared, ids[size:] if closed else np.concatenate([ids[size:], self._end])))
        return sides[0], sides[1]

    def _reference_split(self, prompt: Ids, chosen: Ids, rejected: Ids) -> tuple[Side, Side]:
        """The border of the original: one token may differ where the prompt ends, else it raises."""
        begin = self._begin[: 0 if self._tokenizer.adds_bos else 1]
        sides = []
        for ids in (chosen, rejected):
            if ids.size < prompt.size:
                raise UnusablePairError("different_prompts")
            size = prompt.size - (not np.array_equal(ids[: prompt.size], prompt))
            sides.append(Side(np.concatenate([begin, ids[:size]]), np.concatenate([ids[size:], self._end])))
        first, second = (side.prompt for side in sides)
        shorter = min(first.size, second.size)
        differing = np.count_nonzero(first[:shorter] != second[:shorter])
        if abs(first.size - second.size) > 1 or differing > 1:
            raise UnusablePairError("different_prompts")
        return sides[0], sides[1]

    def _fitted(self, pair: tuple[Side, Side]) -> tuple[Side, Side]:
        longest = max(side.response.size for side in pair)
        cut = self._reference_fit if self._settings.reference else self._fit
        fitted = cut(pair[0], longest), cut(pair[1], longest)
        for part in ("prompt", "response"):
            lost = sum(getattr(a, part).size - getattr(b, part).size for a, b in zip(pair, fitted, strict=True))
            if lost:
                self._statistics.drop(f"{part}_cut", 0, lost)
                self._statistics.truncated_documents[f"{part}_cut"] += 1
        self._statistics.document_tokens += sum(map(len, pair))
        return fitted

    def _fit(self, side: Side, longest: int) -> Side:
        """`longest`: ids of the longer response, so that both sides keep the same prompt."""
        settings = self._settings
        room = max(settings.max_prompt_length, settings.sequence_length - longest)
        prompt = side.prompt
        if prompt.size > room:
            begin = min(room, self._begin.size)
            prompt = np.concatenate([prompt[:begin], prompt[prompt.size - room + begin :]])
        left = settings.sequence_length - prompt.size
        return Side(prompt, side.response[:left], cut=side.response.size > left)

    def _reference_fit(self, side: Side, longest: int) -> Side:
        length, limit = self._settings.sequence_length, self._settings.max_prompt_length
        prompt, response = side.prompt, side.response
        if prompt.size + longest > length:
            prompt = prompt[-limit:]
        if prompt.size + longest > length:
            response = response[: length - limit]
        return Side(prompt, response, cut=response.size < side.response.size)

    def block(self, pairs: Sequence[tuple[Side, Side]]) -> Ids:
        """Rows (n, 6, L) of pairs that fit."""
        length = self._settings.sequence_length
        block = np.empty((len(pairs), 2, CHANNELS // 2, length), np.int32)
        block[:] = np.array([self._tokenizer.pad_id, 0, self._tokenizer.pad_id], np.int32)[:, None]
        loss = 0
        for row, pair in zip(block, pairs, strict=True):
            for channels, side in zip(row, pair, strict=True):
                loss += self._fill(channels, side)
        real = sum(len(side) for pair in pairs for side in pair)
        self._statistics.add_rows(len(pairs), len(pairs) * 2 * length, real=real, loss=loss)
        return block.reshape(len(pairs), CHANNELS, length)

    def _fill(self, channels: Ids, side: Side) -> int:
        """Write the real positions of one side (3, L); returns the number in the loss."""
        first, size = max(side.prompt.size, 1), len(side)  # without a prompt, nothing predicts the first id
        inputs, mask, labels = channels
        inputs[: side.prompt.size] = side.prompt
        inputs[side.prompt.size : size] = side.response
        labels[first - 1 : size - 1] = inputs[first:size]
        self._statistics.sequence_starts += 1
        self._statistics.unlearned_labels += first - 1
        end = size if side.cut and self._settings.reference else size - 1
        mask[first - 1 : end] = 1
        return end - first + 1


def _common_prefix(left: Ids, right: Ids) -> int:
    """Number of equal ids at the beginning."""
    size = min(left.size, right.size)
    different = np.flatnonzero(left[:size] != right[:size])
    return int(different[0]) if different.size else size
