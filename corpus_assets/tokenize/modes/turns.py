"""Fine-tuning examples as turns, and the rows of token sequences of which a part alone is learned."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ids, Ragged
from resources.errors import CorpusError
from resources.formats.examples import Example, Messages

BATCH_CHARACTERS = 1 << 20
# In `Statistics.kinds`: labels of rows that are there to be read, not to be learned.

Pair = tuple[str, str]
T = TypeVar("T")


class TurnsError(CorpusError):
    """An example that is no conversation of the kind that a mode takes. `reason` is a short name for counting."""

    def __init__(self, reason: str, problem: str = "") -> None:
        super().__init__(f"{reason}: {problem}" if problem else reason)
        self.reason = reason
        self.problem = problem

    def __reduce__(self) -> tuple[type["TurnsError"], tuple[str, str]]:
        return (type(self), (self.reason, self.problem))


def pairs(example: Example) -> list[Pair]:
    """Returns the prompt and completion of every pair; texts that are missing are empty.

    Messages 0 and 1, 2 and 3, ... are pairs whatever their roles (docs/formats/cerebras-rows.md "Summarization").
    Raises TurnsError
    `odd_messages`, `no_messages` or `not_text`.
    """
    if example.messages is None:
        return [(_text(example.prompt), _text(example.completion))]
    if not example.messages:
        raise TurnsError("no_messages")
    if len(example.messages) % 2:
        raise TurnsError("odd_messages")
    texts = [_text(message.get("content")) for message in example.messages]
    return list(zip(texts[::2], texts[1::2], strict=True))


def conversation(example: Example) -> Messages:
    """Returns the messages of an example: its own, or a user's prompt (messages or text) and an assistant's completion.

    Raises TurnsError `no_messages` or `no_role`.
    """
    if example.messages is not None:
        found = example.messages
    else:
        found = [*_said("user", example.prompt), *_said("assistant", example.completion)]
    if not found:
        raise TurnsError("no_messages")
    if not all(isinstance(message.get("role"), str) for message in found):
        raise TurnsError("no_role")
    return found


def cleaned(pair: Pair, section: Cleaning, statistics: Statistics) -> Pair:
    """Returns both texts of a pair after cleaning; they are counted before and after."""
    prompt, completion = clean(pair[0], section), clean(pair[1], section)
    statistics.add_text(pair[0], prompt)
    statistics.add_text(pair[1], completion)
    return prompt, completion


def batches(items: Iterable[tuple[T, int]]) -> Iterator[list[T]]:
    """Yields items in lists of about a batch of characters; every item comes with its own number of them."""
    batch, held = list[T](), 0
    for item, characters in items:
        batch.append(item)
        held += characters
        if held >= BATCH_CHARACTERS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def count_sequences(sizes: NDArray[np.int64], learned: int, statistics: Statistics) -> None:
    """Count sequences that go into rows: their `sizes` in ids, and how many labels of them all are in the loss."""
    statistics.unlearned_labels += int(sizes.sum()) - sizes.size - learned


def padded_rows(
    tokens: Ragged, masks: Ragged, *, length: int, pad_id: int, inverted: bool, statistics: Statistics
) -> Iterator[Ids]:
    """Yields the rows of one sequence each, as int32 blocks (rows, 3, L): inputs, loss mask, labels.

    `tokens`: at most L + 1 ids per sequence; the last of up to L ids is an input too, with no label. `masks`, of the
    same lengths: 1 where the label of an id is in the loss; the last of a sequence is ignored.
    """
    from corpus_assets.tokenize.kernels.pairs import pad_rows

    step = max(1, BLOCK_TOKENS // length)
    for first in range(0, len(tokens), step):
        offsets = tokens.offsets[first : first + step + 1]
        block = np.empty((len(offsets) - 1, 3, length), np.int32)
        pad_rows((tokens.ids, masks.ids, offsets), pad_id, int(inverted), block)
        real = int(np.minimum(np.diff(offsets), length).sum())
        in_mask = int(np.count_nonzero(block[:, 1]))
        loss = block[:, 1].size - in_mask if inverted else in_mask
        statistics.add_rows(len(block), block[:, 0].size, real=real, loss=loss)
        yield block


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TurnsError("not_text")
    return value


def _said(role: str, value: str | Messages | None) -> Messages:
    if isinstance(value, list):
        return value
    return [{"role": role, "content": value}] if value else []
