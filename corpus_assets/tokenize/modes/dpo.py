"""Rows for direct preference optimization: one prompt with a chosen and a rejected response.

Rafailov et al. 2023; the layout of the six channels is that of docs/formats/cerebras-rows.md "DPO".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus_assets.config.datasets.modes import DPODataset
from corpus_assets.tokenize.counts.discarded import of_example, of_text
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import TEMPLATE_REASONS, Dialogue, Reads, TemplateFault
from corpus_assets.tokenize.modes.chat.input import INPUT_REASONS
from corpus_assets.tokenize.modes.chat.limited_template import count_fault, open_template, template_blocks
from corpus_assets.tokenize.modes.chat.markers import turn_markers
from corpus_assets.tokenize.modes.chat.masking import CONTROL_IN_NAME
from corpus_assets.tokenize.modes.chat.pieces import encode_pieces, pieces_of
from corpus_assets.tokenize.modes.dpo_pairs import PROBE, Roles, UnusablePairError, as_written, unmarked
from corpus_assets.tokenize.modes.dpo_texts import (
    DEFAULT_DELIMITERS,
    Formatted,
    Formatter,
    Formatting,
    PairTexts,
    Writing,
    formatted_pairs,
    instruction_formatter,
    one_by_one,
)
from corpus_assets.tokenize.modes.mode import Mode, Tools
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ids, Ragged
from corpus_assets.tokenize.rows.layouts import PREFERENCES
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.formats.examples import Example

BATCH_CHARACTERS = 1 << 20
REASONS = (
    *("empty_response", "no_prompt", "no_response", "different_prompts", "odd_messages", "no_delimiter"),
    *("template_changes_prompt", "template_drops_answer", *TEMPLATE_REASONS),
    *("equal_responses", CONTROL_IN_NAME, *INPUT_REASONS),
)


@dataclass(frozen=True)
class Side:
    """Ids of one answer: the prompt, a begin-of-text id included, and the response with the id that ends it."""

    prompt: Ids
    response: Ids
    cut: bool = False

    def __len__(self) -> int:
        return self.prompt.size + self.response.size


def dpo_rows(section: DPODataset, examples: Iterable[Example], tools: Tools) -> Iterator[Ids]:
    """Yields the rows of preference examples, formatted by a chat template; see `formatted_rows`.

    Without a template, and with `reference` for tokenizers that Cerebras' Model Zoo has no template for, the format is
    the `[INST]` style.
    """
    tokenizer = tools.tokenizer
    by_instruction = section.reference and tokenizer.kind in ("gpt2", "neox") and tools.template is None
    source = tools.template if tools.template is not None else tokenizer.chat_template
    if by_instruction or source is None:
        return formatted_rows(section, examples, tokenizer, tools.statistics, None)
    template = open_template(source, tokenizer.template_values)

    def format_all(dialogues: Sequence[Dialogue]) -> list[Formatted]:
        found = template.render_all(dialogues)
        return [one if isinstance(one, TemplateFault) else one.text for one in found]

    from corpus_assets.tokenize.modes.chat.reads import reads_of  # It loads jinja.

    return _rows(section, examples, tokenizer, tools.statistics, Writing(format_all, reads_of(source)))


def before_answer(source: str | None, values: Mapping[str, Any], roles: tuple[str, str]) -> str | None:
    """Returns the text before the answer to one question, including the question; None if that cannot be determined.

    source: a chat template, or None for the `[INST]` style. values: for the template, besides the messages.
    roles: those of the question and of the answer.
    """
    messages = [{"role": role, "content": content} for role, content in zip(roles, ("One?", PROBE), strict=True)]
    if source is None:
        text: str = instruction_formatter(Roles(*roles))(messages)
    else:
        (found,) = open_template(source, values).render_all([Dialogue(messages)])
        if isinstance(found, TemplateFault):
            return None
        text = found.text
    before, probe, _ = text.partition(PROBE)
    return before if probe else None


def formatted_rows(
    section: DPODataset,
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    statistics: Statistics,
    formatter: Formatter | None,
) -> Iterator[Ids]:
    """Yields int32 blocks (rows, 6, L) of preference examples: inputs, loss mask, labels of chosen, then of rejected.

    One row per usable pair, in order. Labels are the inputs shifted left; the loss covers the labels that are response
    ids, the end-of-text id included. `formatter` makes text of messages, without a header for an answer that is still
    to come (None: the `[INST]` style). Cleaning is done to every content (reference: to the formatted text).

    A pair that does not fit loses prompt ids from the start (the begin-of-text id stays), as many as needed while
    `prompt_limit` are left, and only then response ids from the end, with the end-of-text id: what is cut
    does not end there. Both sides have the same prompt ids.

    `reference` does as Cerebras, defects included (docs/formats/cerebras-rows.md "Defect: DPO rows"): a prompt found in
    the chosen text stands there twice; the last delimiter counts, wherever it is; a prompt that is too long keeps
    `prompt_limit` ids and no begin-of-text id; a response that is cut is cut to L - `prompt_limit` ids, and its last
    loss position has padding as label. Control tokens in contents are then matched, and the `[INST]` style knows the
    roles `user` and `assistant` alone. Otherwise the delimiter is looked for where the template puts it, never in what
    somebody wrote.

    A pair that cannot be used is counted in `discarded_documents`: empty_response, no_prompt, no_response (the
    last message is not the assistant's), different_prompts, odd_messages, template_changes_prompt,
    template_drops_answer, or the reason of a `TemplateFault`; of the reference also no_delimiter.

    In `statistics` every row has 2 L positions (Cerebras counts all six channels), and `document_tokens` =
    `non_pad_tokens` + `dropped_tokens` (prompt_cut, response_cut).
    """
    roles = Roles() if section.reference else Roles(section.user_role, section.assistant_role)
    if formatter is None:
        nothing = Reads(frozenset(), frozenset())
        writing = Writing(one_by_one(instruction_formatter(roles)), nothing, DEFAULT_DELIMITERS)
    else:
        writing = Writing(one_by_one(formatter))
    return _rows(section, examples, tokenizer, statistics, writing)


def _rows(
    section: DPODataset,
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    statistics: Statistics,
    writing: Writing,
) -> Iterator[Ids]:
    builder = _Builder(section, tokenizer, statistics, writing)
    limit = max(1, BLOCK_TOKENS // (2 * section.sequence_length))
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
        section: DPODataset,
        tokenizer: Tokenizer,
        statistics: Statistics,
        writing: Writing,
    ) -> None:
        self._tokenizer = tokenizer
        self._control = ControlTokens(tokenizer.special_tokens, tokenizer.strips)
        self._control_ids = {*tokenizer.special_tokens.values(), *self._end_ids(tokenizer)}
        self._section = section
        self._statistics = statistics
        self._format_all = writing.format_all
        roles = Roles(section.user_role, section.assistant_role)
        keeps = section.equal_pairs == "keep"
        delimiters = DEFAULT_DELIMITERS if section.reference else writing.delimiters
        if section.response_delimiter:
            delimiters = (section.response_delimiter,)
        formatting = Formatting(section, roles, delimiters, self._control, keeps, writing.read)
        self._asked = formatting.asked_by_reference if section.reference else formatting.asked
        begin = tokenizer.eos_id if tokenizer.bos_id is None and section.reference else tokenizer.bos_id
        self._begin = np.array([] if begin is None else [begin], np.int32)
        self._end = np.array(self._end_ids(tokenizer), np.int32)

    @staticmethod
    def _end_ids(tokenizer: Tokenizer) -> list[int]:
        return [] if tokenizer.eos_id is None else [tokenizer.eos_id]

    def batches(self, examples: Iterable[Example]) -> Iterator[list[PairTexts]]:
        """Yields the texts of the usable examples, about `BATCH_CHARACTERS` at a time."""
        batch: list[PairTexts] = []
        characters = 0
        for texts in self._usable(examples):
            for raw, text in zip(texts.raw, (texts.chosen, texts.rejected), strict=True):
                self._statistics.add_text(raw, unmarked(text))
            batch.append(texts)
            characters += len(texts.chosen) + len(texts.rejected)
            if characters >= BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
        if batch:
            yield batch

    def _usable(self, examples: Iterable[Example]) -> Iterator[PairTexts]:
        """Yields the texts of the examples that have them; counts the others."""
        for block in template_blocks(examples):
            formatted = formatted_pairs(block, self._asked, self._format_all, self._statistics.note_unread)
            for example, texts in zip(block, formatted, strict=True):
                self._statistics.processed_files += 1
                if isinstance(texts, PairTexts):
                    yield texts
                else:
                    count_fault(self._statistics, texts.reason, example, [of_example(example)])

    def sides(self, batch: Sequence[PairTexts]) -> Iterator[tuple[Side, Side]]:
        """Yields the ids of both sides, cut to the sequence length; reference: without pairs that Cerebras stops at."""
        texts = [text for pair in batch for text in (pair.prompt, pair.chosen, pair.rejected)]
        reference = self._section.reference
        ids = Ragged.of(map(self._tokenizer.encode_trusted, texts)) if reference else self._encode(texts)
        split = self._reference_split if reference else self._split
        for first in range(0, len(texts), 3):
            prompt, *answers = (ids[first + offset] for offset in range(3))
            try:
                pair = split(prompt, *answers)
            except UnusablePairError as unusable:
                self._statistics.discard_document(unusable.reason, shown=[of_text("", batch[first // 3].prompt)])
                continue
            yield self._fitted(pair)

    def _encode(self, texts: Sequence[str]) -> Ragged:
        """Returns ids with only the template's control tokens matched; all other text is encoded as one batch."""
        written = list(map(as_written, texts))
        rows = [(one.text, list(pieces_of(one, (), self._control))) for one in written]
        ids, _ = encode_pieces(self._tokenizer, rows)
        return Ragged(ids.ids, ids.offsets[np.cumsum([0, *(len(pieces) for _, pieces in rows)])])

    def _split(self, prompt: Ids, chosen: Ids, rejected: Ids) -> tuple[Side, Side]:
        """Returns both sides; a token across the border belongs to the response, on both sides if on one."""
        size = min(_common_prefix(prompt, chosen), _common_prefix(prompt, rejected))
        shared = prompt[:size]
        if not np.array_equal(shared[:1], self._begin):  # some templates write it themselves
            shared = np.concatenate([self._begin, shared])
        sides = []
        for ids in (chosen, rejected):
            closed = ids.size > size and int(ids[-1]) in self._control_ids
            sides.append(Side(shared, ids[size:] if closed else np.concatenate([ids[size:], self._end])))
        return sides[0], sides[1]

    def _reference_split(self, prompt: Ids, chosen: Ids, rejected: Ids) -> tuple[Side, Side]:
        """Returns both sides by Cerebras' border: one token may differ where the prompt ends, else it raises."""
        begin = self._begin[: 0 if self._tokenizer.bos_by_setting else 1]
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
        cut = self._reference_fit if self._section.reference else self._fit
        fitted = cut(pair[0], longest), cut(pair[1], longest)
        for part in ("prompt", "response"):
            lost = sum(getattr(a, part).size - getattr(b, part).size for a, b in zip(pair, fitted, strict=True))
            if lost:
                self._statistics.drop(f"{part}_cut", 0, lost)
                self._statistics.truncated_documents[f"{part}_cut"] += 1
        self._statistics.document_tokens += sum(map(len, pair))
        return fitted

    def _fit(self, side: Side, longest: int) -> Side:
        """Returns the side cut to L ids. longest: ids of the longer response; both sides keep the same prompt."""
        section = self._section
        room = max(section.prompt_limit, section.sequence_length - longest)
        prompt = side.prompt
        if prompt.size > room:
            begin = min(room, self._begin.size)
            prompt = np.concatenate([prompt[:begin], prompt[prompt.size - room + begin :]])
        left = section.sequence_length - prompt.size
        return Side(prompt, side.response[:left], cut=side.response.size > left)

    def _reference_fit(self, side: Side, longest: int) -> Side:
        length, limit = self._section.sequence_length, self._section.prompt_limit
        prompt, response = side.prompt, side.response
        if prompt.size + longest > length:
            prompt = prompt[-limit:]
        if prompt.size + longest > length:
            response = response[: length - limit]
        return Side(prompt, response, cut=response.size < side.response.size)

    def block(self, pairs: Sequence[tuple[Side, Side]]) -> Ids:
        """Returns the rows (n, 6, L) of pairs that fit."""
        length = self._section.sequence_length
        block = np.empty((len(pairs), 2, PREFERENCES.channels // 2, length), np.int32)
        block[:] = np.array([self._tokenizer.pad_id, 0, self._tokenizer.pad_id], np.int32)[:, None]
        loss = 0
        for row, pair in zip(block, pairs, strict=True):
            for channels, side in zip(row, pair, strict=True):
                loss += self._fill(channels, side)
        real = sum(len(side) for pair in pairs for side in pair)
        self._statistics.add_rows(len(pairs), len(pairs) * 2 * length, real=real, loss=loss)
        return block.reshape(len(pairs), PREFERENCES.channels, length)

    def _fill(self, channels: Ids, side: Side) -> int:
        """Write the real positions of one side (3, L); returns the number in the loss."""
        first, size = max(side.prompt.size, 1), len(side)  # without a prompt, nothing predicts the first id
        inputs, mask, labels = channels
        inputs[: side.prompt.size] = side.prompt
        inputs[side.prompt.size : size] = side.response
        labels[first - 1 : size - 1] = inputs[first:size]
        self._statistics.sequence_starts += 1
        self._statistics.unlearned_labels += first - 1
        end = size if side.cut and self._section.reference else size - 1
        mask[first - 1 : end] = 1
        return end - first + 1


def _common_prefix(left: Ids, right: Ids) -> int:
    """Returns the number of equal ids at the beginning."""
    size = min(left.size, right.size)
    different = np.flatnonzero(left[:size] != right[:size])
    return int(different[0]) if different.size else size


def _control(section: DPODataset, tokenizer: Tokenizer, template: str | None) -> set[str]:
    """Returns the tokens that are control tokens because the template marks turns by them; none in Cerebras."""
    source = template or tokenizer.chat_template
    if section.reference or source is None:
        return set()
    return turn_markers(open_template(source, tokenizer.template_values), tokenizer, section.assistant_role)


DPO = Mode(
    section=DPODataset,
    control=_control,
    words="Preference pairs",
    layout=PREFERENCES,
    rows=dpo_rows,
    reasons=REASONS,
)
