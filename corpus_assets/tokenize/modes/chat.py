"""Rows of conversations written by a chat template, of which the turns of some roles are learned.

Ids and what is learned: chat_encoding.py. Here: reading examples, fitting them into rows, counting.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, get_args

import numpy as np

from corpus_assets.tokenize.encode.cleaning import CleaningSettings, clean
from corpus_assets.tokenize.modes.chat_encoding import ChatEncoder, ChatSequence
from corpus_assets.tokenize.modes.chat_template import ChatTemplate, TemplateFault
from corpus_assets.tokenize.modes.turns import TurnsError, batches, conversation, count_sequences, padded_rows
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.vsl import PackingSettings, VSLPacker
from corpus_assets.tokenize.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.formats.examples import Example, Messages

ChatTruncation = Literal["discard", "end", "oldest_turns"]
TrainOn = Literal["all_turns", "last_turn"]
OnFault = Callable[[Example, str], None]
NOT_RENDERED = "texts_not_rendered"


@dataclass(frozen=True)
class ChatSettings:
    """How conversations become sequences.

    sequence_length: L; a sequence has at most L + 1 ids, of which all but the last are inputs.
    minimum_length: conversations of fewer ids are discarded.
    chat_template: jinja source, None for the tokenizer's own.
    template_values: what the template may name beside the messages and the tokenizer's tokens (`tools`, ...).
    day: what the template is told when it asks for the day.
    loss_roles: roles that are learned, or None: what the template marks with `{% generation %}`. Learned are the tokens
    that hold a code point of a text of such a message, what the template writes between two texts of one message, and
    what it writes after the last one up to the first control token, that token included (`<|im_end|>`, `</s>`): if the
    next text comes before any control token, nothing after it.
    train_on: all turns of these roles, or the last message of them.
    truncate: what becomes of what is too long. `end`: its last ids are left out. `oldest_turns`: the earliest turns
    are left out, so that the conversation begins with a message of the same role as before; messages of the role
    `system` in front stay.
    inverted_mask: the stored loss mask is 0 on what is learned and 1 elsewhere, padding included.
    cleaning: of the contents of messages.
    """

    sequence_length: int
    minimum_length: int = 2
    chat_template: str | None = None
    template_values: Mapping[str, Any] = field(default_factory=dict)
    day: date | None = None
    loss_roles: tuple[str, ...] | None = ("assistant",)
    train_on: TrainOn = "all_turns"
    truncate: ChatTruncation = "discard"
    inverted_mask: bool = False
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)

    def __post_init__(self) -> None:
        if self.sequence_length < 1:
            raise ConfigError(f"sequence_length is {self.sequence_length}; valid: 1 or more")
        if (minimum := self.minimum_length) > self.sequence_length + 1:
            raise ConfigError(f"minimum_length is {minimum}; valid: at most {self.sequence_length + 1}")
        if self.loss_roles is not None and not self.loss_roles:
            raise ConfigError("loss_roles is empty; valid: one role or more, or none for generation blocks")
        for name, kind in (("train_on", TrainOn), ("truncate", ChatTruncation)):
            if getattr(self, name) not in get_args(kind):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; valid: {', '.join(get_args(kind))}")


def chat_rows(
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    settings: ChatSettings,
    statistics: Statistics,
    *,
    on_fault: OnFault | None = None,
) -> Iterator[Ids]:
    """One row per conversation, in order, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    An example that cannot be used is discarded, counted by reason, and handed to `on_fault` with what is wrong.
    ConfigError without a chat template.
    """
    for tokens, masks in _sequences(examples, tokenizer, settings, statistics, on_fault):
        yield from padded_rows(
            tokens,
            masks,
            length=settings.sequence_length,
            pad_id=tokenizer.pad_id,
            inverted=settings.inverted_mask,
            statistics=statistics,
        )


def chat_vsl_rows(
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    settings: ChatSettings,
    packing: PackingSettings,
    statistics: Statistics,
    *,
    on_fault: OnFault | None = None,
) -> Iterator[Ids]:
    """Conversations packed into rows, as int32 blocks (rows, 5, L); otherwise as `chat_rows`."""
    if (packing.sequence_length, packing.inverted_mask) != (settings.sequence_length, settings.inverted_mask):
        raise ConfigError("packing and chat differ in sequence_length or inverted_mask; valid: the same in both")
    packer = VSLPacker(packing, tokenizer.pad_id, statistics)
    for tokens, masks in _sequences(examples, tokenizer, settings, statistics, on_fault):
        yield from packer.add(tokens, masks)
    yield from packer.finish()


def chat_encoder(tokenizer: Tokenizer, settings: ChatSettings) -> ChatEncoder:
    """The encoder of the settings. ConfigError without a chat template."""
    source = settings.chat_template or tokenizer.chat_template
    if source is None:
        raise ConfigError("the tokenizer has no chat template; valid: chat_template with one")
    template = ChatTemplate(source, day=settings.day)
    is_last = settings.train_on == "last_turn"
    return ChatEncoder(tokenizer, template, settings.template_values, roles=settings.loss_roles, only_last=is_last)


class _Reader:
    """Examples to sequences that fit a row; what does not is counted."""

    def __init__(
        self, encoder: ChatEncoder, settings: ChatSettings, statistics: Statistics, on_fault: OnFault | None
    ) -> None:
        self._encoder = encoder
        self._settings = settings
        self._statistics = statistics
        self._on_fault = on_fault

    def sequences(self, examples: Iterable[Example]) -> Iterator[tuple[ChatSequence, int]]:
        """Sequences, with a measure of their size."""
        for example in examples:
            self._statistics.processed_files += 1
            try:
                fitted = self._fitted(self._cleaned(conversation(example)))
            except (TurnsError, TemplateFault) as error:
                self._statistics.discard_document(error.reason)
                if self._on_fault is not None:
                    self._on_fault(example, str(error))
                continue
            if fitted is not None:
                yield fitted, fitted.ids.size

    def _cleaned(self, messages: Messages) -> Messages:
        return [
            message | {"content": self._clean(message["content"])} if "content" in message else message
            for message in messages
        ]

    def _clean(self, content: Any) -> Any:
        """A content, a string or a list of parts with a `text`, after cleaning."""
        if isinstance(content, list):
            return [
                part | {"text": self._clean(part["text"])} if isinstance(part, dict) and "text" in part else part
                for part in content
            ]
        if not isinstance(content, str):
            return content
        text = clean(content, self._settings.cleaning)
        self._statistics.add_text(content, text)
        return text

    def _fitted(self, messages: Messages) -> ChatSequence | None:
        aligned = self._encoder.align(messages)
        whole = fitted = self._encoder.encode(messages, aligned)
        capacity, reason = self._settings.sequence_length + 1, ""
        if whole.ids.size > capacity:
            fitted, reason = self._truncated(messages, whole, capacity)
        if not reason and whole.ids.size < self._settings.minimum_length:
            fitted, reason = _nothing(whole), "below_minimum_length"
        elif fitted.ids.size and not fitted.learned[1:].any():
            # What was cut may have held all that is learned.
            fitted, reason = _nothing(whole), "too_long" if reason else "nothing_learned"
        self._count(whole.ids.size, fitted, reason)
        if aligned.left_out:
            self._statistics.kinds[NOT_RENDERED] += aligned.left_out
        return fitted if fitted.ids.size else None

    def _truncated(self, messages: Messages, whole: ChatSequence, capacity: int) -> tuple[ChatSequence, str]:
        """What is kept, and the reason for counting; nothing is kept of what cannot be made to fit."""
        if self._settings.truncate == "end":
            return ChatSequence(whole.ids[:capacity], whole.learned[:capacity]), "end"
        shorter = list(_shorter(messages)) if self._settings.truncate == "oldest_turns" else []

        def encoded(number: int) -> ChatSequence:
            return self._encoder.encode(shorter[number], self._encoder.align(shorter[number]))

        number = bisect_left(range(len(shorter)), True, key=lambda tried: encoded(tried).ids.size <= capacity)
        return (encoded(number), "oldest_turns") if number < len(shorter) else (_nothing(whole), "too_long")

    def _count(self, before: int, fitted: ChatSequence, reason: str) -> None:
        statistics, after = self._statistics, fitted.ids.size
        statistics.document_tokens += before
        statistics.sequence_starts += before > 0
        if not after:
            statistics.discard_document(reason)
            statistics.drop(reason, 1, max(0, before - 1))
        elif after < before:
            statistics.truncated_documents[reason] += 1
            statistics.drop(reason, 0, before - after)


def _nothing(sequence: ChatSequence) -> ChatSequence:
    return ChatSequence(sequence.ids[:0], sequence.learned[:0])


def _shorter(messages: Messages) -> Iterator[Messages]:
    """The conversation without its earliest turns, more and more of them."""
    front = next((n for n, message in enumerate(messages) if message["role"] != "system"), len(messages))
    for first in range(front + 1, len(messages)):
        if messages[first]["role"] == messages[front]["role"]:
            yield messages[:front] + messages[first:]


def _sequences(
    examples: Iterable[Example],
    tokenizer: Tokenizer,
    settings: ChatSettings,
    statistics: Statistics,
    on_fault: OnFault | None,
) -> Iterator[tuple[Ragged, Ragged]]:
    """Batches of ids and loss masks."""
    reader = _Reader(chat_encoder(tokenizer, settings), settings, statistics, on_fault)
    for batch in batches(reader.sequences(examples)):
        tokens = Ragged.of(sequence.ids for sequence in batch)
        # A position is in the loss if its label, the next id, is learned.
        masks = Ragged.of(np.append(sequence.learned[1:], False) for sequence in batch)
        count_sequences(tokens.lengths, int(masks.ids.sum()), statistics)
        yield tokens, masks
