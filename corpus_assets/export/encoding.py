"""Encodes documents: one list of ids per document, in order, without ids around them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.encode.cuts import around
from corpus_assets.tokenize.encode.texts import BATCH_CHARACTERS, encode_long
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer


class Texted(Protocol):
    """A document with a text."""

    @property
    def text(self) -> str:
        """The text, before it is cleaned."""


@dataclass(frozen=True)
class Encoded:
    """A batch of documents and their ids, one list for each.

    without_cut: documents that are left out, because they are too long for one piece and cannot be cut safely.
    """

    documents: Sequence[Any]
    ids: Ragged
    without_cut: Sequence[Any] = ()


def encoded(documents: Iterable[Texted], tokenizer: Tokenizer, cleaning: Cleaning) -> Iterator[Encoded]:
    """Yields the ids of all documents, whose texts are cleaned first, in batches of about `BATCH_CHARACTERS`.

    A document longer than that is a batch of its own. Batches do not affect the ids. Control tokens that a text spells
    are matched if the tokenizer was made to do so. An empty text has no ids.
    """
    encode = _Encoder(tokenizer)
    untouched = not (cleaning.ftfy or cleaning.wikitext)
    batch: list[Texted] = []
    texts: list[str] = []
    characters = 0
    for document in documents:
        text = document.text if untouched else clean(document.text, cleaning)
        text = text.strip() if cleaning.strips else text
        if batch and characters + len(text) > BATCH_CHARACTERS:
            yield Encoded(batch, encode.batch(texts))
            batch, texts, characters = [], [], 0
        if len(text) > BATCH_CHARACTERS:
            alone = [encode.alone(document, text)]
            del document, text
            yield alone.pop()
            continue
        batch.append(document)
        texts.append(text)
        characters += len(text)
    if batch:
        yield Encoded(batch, encode.batch(texts))


class _Encoder:
    """Encodes texts without the ids that the tokenizer puts around each."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        marks = around(tokenizer)
        self._is_plain = marks is None
        self._before, self._after = map(len, marks or ((), ()))

    def batch(self, texts: Sequence[str]) -> Ragged:
        """Returns the ids of the texts."""
        if self._is_plain:
            return self._tokenizer.encode_plain(texts)
        return _inner(self._tokenizer.encode_batch(texts), self._before, self._after)

    def alone(self, document: Texted, text: str) -> Encoded:
        """Returns a batch of one long text, or of none if it cannot be cut safely."""
        ids = None if self._is_plain else encode_long(text, self._tokenizer)
        if ids is None:
            return Encoded([], Ragged.of([]), [document])
        inner: Ids = ids[self._before : len(ids) - self._after]
        return Encoded([document], Ragged(inner, np.array([0, len(inner)])))


def _inner(ragged: Ragged, before: int, after: int) -> Ragged:
    """Returns the lists without the first `before` and the last `after` ids of each."""
    if not before + after or not len(ragged):
        return ragged
    starts, ends = ragged.offsets[:-1], ragged.offsets[1:]
    outer = [(starts[:, None] + np.arange(before)).ravel(), (ends[:, None] - 1 - np.arange(after)).ravel()]
    lost = (before + after) * np.arange(len(ragged.offsets))
    return Ragged(np.delete(ragged.ids, np.concatenate(outer)), ragged.offsets - lost)
