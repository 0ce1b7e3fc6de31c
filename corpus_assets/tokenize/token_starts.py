"""The positions in a text where its tokens start."""

from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer

HEAD = 64
MOST_SHORT, SHORT = 1024, 64
"""Heads whose text is remembered: how many, and their ids."""


def token_starts(text: str, ids: Ids, tokenizer: Tokenizer) -> NDArray[np.int64]:
    """Returns the code points (n,) of the text where the tokens of `encode_plain` start, ascending.

    They are counted if the tokens' own texts make up the text, or the text with a space before it, else asked for. A
    token that goes on with the bytes of a character starts where that character does.
    """
    counted = _counted(text, ids, tokenizer)
    return tokenizer.encode_offsets(text)[1] if counted is None else counted


class Heads:
    """Counts the ids that heads of texts have; a template writes the same few short heads again and again."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._short_text = lru_cache(MOST_SHORT)(self._text)

    def ids_of(self, head: str, ids: Ids) -> int | None:
        """Returns how many of the ids of a text that begins with `head` make up the head; None if a token goes on after
        it, or the tokens' own texts do not make it up.
        """
        stored = len(head.encode())
        ends = list(accumulate(self._tokenizer.text_sizes()[0][ids[: stored + 1]].tolist()))
        # One place alone: a token without a text of its own may be of what is before it, or of what comes after.
        if ends.count(stored) != 1:
            return None
        count = ends.index(stored) + 1
        text = self._short_text if count <= SHORT else self._text
        return count if text(ids[:count].tobytes()) == head else None

    def _text(self, ids: bytes) -> str:
        return self._tokenizer.decode(np.frombuffer(ids, np.int32))


def _counted(text: str, ids: Ids, tokenizer: Tokenizer) -> NDArray[np.int64] | None:
    sizes = tokenizer.text_sizes()[0][ids].astype(np.int64)
    stored = np.frombuffer(text.encode(), np.uint8)
    more = int(sizes.sum()) - stored.size
    if more not in (0, 1) or not sizes.all() or tokenizer.decode(ids) != text:
        return None
    places = np.maximum(np.cumsum(sizes) - sizes - more, 0)
    starts: NDArray[np.int64] = (np.cumsum(stored & 0xC0 != 0x80, dtype=np.int64) - 1)[places]
    return starts if not more or _begins_with_space(text, tokenizer) else None


def _begins_with_space(text: str, tokenizer: Tokenizer) -> bool:
    """Returns whether the space that tokens have more than the text is before it: others put one behind every word."""
    ids, starts = tokenizer.encode_offsets(text[:HEAD])
    first = text[: starts[1] if starts.size > 1 else HEAD]
    return bool(ids.size) and int(tokenizer.text_sizes()[0][ids[0]]) == len(first.encode()) + 1
