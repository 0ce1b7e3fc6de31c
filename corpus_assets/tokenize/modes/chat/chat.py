"""Rows of conversations in the format of a chat template; the turns of some roles are learned.

This module reads examples, fits them into rows and counts; encoding.py makes ids and loss masks.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from corpus_assets.config.datasets.modes import ChatDataset
from corpus_assets.tokenize.counts.discarded import of_example
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.modes.chat.alignment import ALIGNMENT_FAILED
from corpus_assets.tokenize.modes.chat.dialogues import TEMPLATE_REASONS, Dialogue, TemplateFault
from corpus_assets.tokenize.modes.chat.encoding import (
    CONTROL_IN_TEXT,
    ChatEncoder,
    ChatSequence,
    Talk,
    Written,
    answering,
)
from corpus_assets.tokenize.modes.chat.input import INPUT_REASONS, first_system, talk_of
from corpus_assets.tokenize.modes.chat.limited_template import (
    LimitedTemplate,
    count_fault,
    open_template,
    template_blocks,
)
from corpus_assets.tokenize.modes.chat.markers import check_ends, turn_markers
from corpus_assets.tokenize.modes.chat.masking import CONTROL_IN_NAME
from corpus_assets.tokenize.modes.chunks import chunked
from corpus_assets.tokenize.modes.mode import MaskedBatch, Mode, OnFault, Tools
from corpus_assets.tokenize.modes.turns import TurnsError, batches, count_sequences, padded_rows
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.layouts import ANSWERS, PACKED_ANSWERS
from corpus_assets.tokenize.rows.vsl import VSLPacker
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example, chunk_bytes

_Encoded = tuple[Written, ChatSequence | TemplateFault]
T = TypeVar("T")
NOT_RENDERED = "texts_not_rendered"
OWN_TEXTS = "answers_with_a_text_of_their_own"
SILENT = "answers_without_a_text"
REASONS = (
    *("no_messages", "no_role", "nothing_learned", "too_long", "below_minimum_length"),
    *(*TEMPLATE_REASONS, ALIGNMENT_FAILED, CONTROL_IN_NAME, CONTROL_IN_TEXT),
    *INPUT_REASONS,
)


def chat_rows(section: ChatDataset, examples: Iterable[Example], tools: Tools) -> Iterator[Ids]:
    """Yields one row per conversation, in order, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    An unusable example is discarded, counted by reason, and passed to `on_fault` with the fault. ConfigError without a
    chat template.
    """
    for tokens, masks, _ in _Reader(section, tools, section.sequence_length + 1).batches(examples):
        yield from padded_rows(
            tokens,
            masks,
            length=section.sequence_length,
            pad_id=tools.tokenizer.pad_id,
            inverted=section.inverted_mask,
            statistics=tools.statistics,
        )


def chat_vsl_rows(section: ChatDataset, examples: Iterable[Example], tools: Tools) -> Iterator[Ids]:
    """Yields conversations packed into rows, as int32 blocks (rows, 5, L); otherwise as `chat_rows`."""
    reader = _Reader(section, tools, section.sequence_length + 1)
    packer = VSLPacker(section, tools.tokenizer.pad_id, tools.statistics)
    for chunk in chunked(examples, chunk_bytes, section.packing_text):
        for tokens, masks, _ in reader.batches(chunk):
            yield from packer.add(tokens, masks)
        yield from packer.finish()


def masked_conversations(
    section: ChatDataset, examples: Iterable[Example], tools: Tools, most: int
) -> Iterator[MaskedBatch]:
    """Yields conversations of at most `most` ids, before they are packed or padded; otherwise as `chat_rows`."""
    yield from _Reader(section, tools, most).batches(examples)


def chat_encoder(section: ChatDataset, tokenizer: Tokenizer, template: str | None) -> ChatEncoder:
    """Returns the encoder of a dataset. template: instead of the tokenizer's own.

    ConfigError without any, or if no end of an answer would be learned.
    """
    opened = _opened(section, tokenizer, template)
    encoder = ChatEncoder(tokenizer, opened, roles=section.loss_roles, only_last=section.train_on == "last_turn")
    check_ends(encoder, tokenizer, answering(section.loss_roles))
    return encoder


def chat_control(section: ChatDataset, tokenizer: Tokenizer, template: str | None) -> set[str]:
    """Returns the tokens that are control tokens because the template marks turns by them."""
    return turn_markers(_opened(section, tokenizer, template), tokenizer, answering(section.loss_roles))


def _opened(section: ChatDataset, tokenizer: Tokenizer, template: str | None) -> LimitedTemplate:
    source = template or tokenizer.chat_template
    if source is None:
        raise ConfigError("the tokenizer has no chat template; valid: chat_template with one")
    return open_template(source, {**tokenizer.template_values, **section.template_values}, section.fixed_day)


class _Reader:
    """Makes sequences of at most `capacity` ids of examples; what does not fit is counted."""

    def __init__(self, section: ChatDataset, tools: Tools, capacity: int) -> None:
        self._capacity = capacity
        self._encoder = chat_encoder(section, tools.tokenizer, tools.template)
        from corpus_assets.tokenize.modes.chat.reads import reads_of  # It loads jinja.

        self._read = reads_of(tools.template or tools.tokenizer.chat_template or "")
        self._section = section
        self._statistics = tools.statistics
        self._on_fault: OnFault | None = tools.on_fault

    def batches(self, examples: Iterable[Example]) -> Iterator[MaskedBatch]:
        """Yields batches of ids and loss masks."""
        for batch in batches(self._sequences(examples)):
            tokens = Ragged.of(sequence.ids for _, sequence in batch)
            learned = np.concatenate([sequence.learned for _, sequence in batch])
            # A position is in the loss if its label, the next id, is learned.
            masks = Ragged(np.append(learned[1:], False).astype(np.int32), tokens.offsets)
            masks.ids[tokens.offsets[1:] - 1] = 0
            count_sequences(tokens.lengths, int(masks.ids.sum()), self._statistics)
            yield MaskedBatch(tokens, masks, np.array([number for number, _ in batch], np.int64))

    def _sequences(self, examples: Iterable[Example]) -> Iterator[tuple[tuple[int, ChatSequence], int]]:
        """Yields sequences, each with the number of its example, and with a measure of its size."""
        read = 0
        for block in template_blocks(examples):
            for number, (example, texts) in enumerate(zip(block, self._encoded(block), strict=True), read):
                self._statistics.processed_files += 1
                try:
                    fitted = [self._fitted(written, _given(whole), example) for written, whole in _given(texts)]
                except (TurnsError, TemplateFault) as error:
                    if self._on_fault is not None:
                        self._on_fault(example, str(error))
                    count_fault(self._statistics, error.reason, example)
                    continue
                if len(fitted) > 1:
                    self._statistics.kinds[OWN_TEXTS] += len(fitted) - 1
                yield from (((number, sequence), sequence.ids.size) for sequence in fitted if sequence is not None)
            read += len(block)

    def _encoded(self, block: Sequence[Example]) -> Iterator[list[_Encoded] | TemplateFault | TurnsError]:
        """Yields the texts of each example with their ids, or the fault for which it has none."""
        written = list(self._written(block))
        whole = iter(self._encoder.encode_all([text for texts in written if isinstance(texts, list) for text in texts]))
        for texts in written:
            yield [(text, next(whole)) for text in texts] if isinstance(texts, list) else texts

    def _written(self, block: Sequence[Example]) -> Iterator[list[Written] | TemplateFault | TurnsError]:
        """Yields the texts of each example, cleaned, or the fault for which there is none."""
        read = [self._talk(example) for example in block]
        written = iter(self._encoder.write_all([found for found in read if isinstance(found, Talk)]))
        for found in read:
            yield next(written) if isinstance(found, Talk) else found

    def _talk(self, example: Example) -> Talk | TurnsError:
        try:
            talk, unread = talk_of(example, self._read)
        except TurnsError as fault:
            return fault
        self._statistics.note_unread(unread)
        return Talk(Dialogue(list(map(self._cleaned, talk.dialogue.messages)), talk.dialogue.values), talk.learned)

    def _cleaned(self, message: dict[str, Any]) -> dict[str, Any]:
        content = message.get("content")
        text = self._clean(content)
        return message if text is content else message | {"content": text}

    def _clean(self, content: Any) -> Any:
        """Returns a content after cleaning."""
        if not isinstance(content, str):
            return content
        text = clean(content, self._section)
        self._statistics.add_text(content, text)
        return text

    def _fitted(self, written: Written, whole: ChatSequence, example: Example) -> ChatSequence | None:
        fitted = whole
        capacity, reason = self._capacity, ""
        if whole.ids.size > capacity:
            fitted, reason = self._truncated(written.talk, whole, capacity)
        if not reason and whole.ids.size < self._section.minimum_length:
            fitted, reason = _nothing(whole), "below_minimum_length"
        elif fitted.ids.size and not fitted.learned[1:].any():
            # The cut part may have held all learned ids.
            fitted, reason = _nothing(whole), "too_long" if reason else "nothing_learned"
        self._count(whole.ids.size, fitted, reason, example)
        if written.silent:
            self._statistics.kinds[SILENT] += written.silent
        if written.aligned.left_out:
            self._statistics.kinds[NOT_RENDERED] += written.aligned.left_out
        return fitted if fitted.ids.size else None

    def _truncated(self, talk: Talk, whole: ChatSequence, capacity: int) -> tuple[ChatSequence, str]:
        """Returns the kept part, and the reason for counting; nothing if it cannot be made to fit."""
        if self._section.truncate == "end":
            return ChatSequence(whole.ids[:capacity], whole.learned[:capacity]), "end"
        shorter = list(_shorter(talk)) if self._section.truncate == "oldest_turns" else []

        def encoded(number: int) -> ChatSequence:
            written = self._encoder.write(shorter[number])
            return _nothing(whole) if written is None else self._encoder.encode(written)

        number = bisect_left(range(len(shorter)), True, key=lambda tried: encoded(tried).ids.size <= capacity)
        kept = encoded(number) if number < len(shorter) else _nothing(whole)
        return kept, "oldest_turns" if kept.ids.size else "too_long"

    def _count(self, before: int, fitted: ChatSequence, reason: str, example: Example) -> None:
        statistics, after = self._statistics, fitted.ids.size
        statistics.document_lengths[before] += 1
        statistics.document_tokens += before
        statistics.sequence_starts += before > 0
        if not after:
            statistics.discard_document(reason, shown=[of_example(example)])
            statistics.drop(reason, 1, max(0, before - 1))
        elif after < before:
            statistics.truncated_documents[reason] += 1
            statistics.drop(reason, 0, before - after)


def _given(found: T | TemplateFault | TurnsError) -> T:
    if isinstance(found, TemplateFault | TurnsError):
        raise found
    return found


def _nothing(sequence: ChatSequence) -> ChatSequence:
    return ChatSequence(sequence.ids[:0], sequence.learned[:0])


def _shorter(talk: Talk) -> Iterator[Talk]:
    """Yields the conversation without its earliest turns, more and more of them."""
    messages, learned = talk.dialogue.messages, talk.learned
    front = first_system(messages)
    for first in range(front + 1, len(messages)):
        if messages[first]["role"] == messages[front]["role"]:
            rest = Dialogue(messages[:front] + messages[first:], talk.dialogue.values)
            yield Talk(rest, learned[:front] + learned[first:])


CHAT = Mode(
    section=ChatDataset,
    words="Conversations",
    layout=ANSWERS,
    rows=chat_rows,
    masked=masked_conversations,
    control=chat_control,
    check=chat_encoder,
    chosen_by=lambda section: not section.pack,
    name="Chat",
    reasons=REASONS,
)
CHAT_VSL = Mode(
    section=ChatDataset,
    words="Packed conversations",
    layout=PACKED_ANSWERS,
    rows=chat_vsl_rows,
    masked=masked_conversations,
    control=chat_control,
    check=chat_encoder,
    chosen_by=lambda section: section.pack,
    name="Chat_VSL",
    reasons=REASONS,
)
