"""The words of a text as a list, and as the code points that kernels read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import code_points


class WordList(NamedTuple):
    """Words in their order, all their code points behind each other, and the end of each word (words,)."""

    words: Sequence[str]
    codes: NDArray[np.uint32]
    ends: NDArray[np.int64]


def word_list(words: Sequence[str]) -> WordList:
    """Returns words with their code points."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    return WordList(words, code_points("".join(words)), np.cumsum(lengths, dtype=np.int64))
