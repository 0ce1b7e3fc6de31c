"""Looks up the n-grams of documents in the index of benchmark items."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.index import Index, Rules, word_hashes

_NGRAMS_PER_WORD = 4
_LEAST_BITS = 8
_BUCKET_BITS = 16
_ROOM = 1024

Scalar = TypeVar("Scalar", bound=np.generic)
Hits = NDArray[np.uint32]
"""(hits, 3): beginning and end in code points of the text, number of the n-gram."""

_NOTHING: Hits = np.empty((0, 3), dtype=np.uint32)


class Searcher:
    """An index prepared for searching.

    It holds two to four bytes per n-gram; the arrays of the index may be mapped files.
    """

    def __init__(self, index: Index, rules: Rules) -> None:
        from corpus_assets.contamination.kernels.search import prefilter

        self._rules = rules
        self._lengths = np.unique(index.lengths)[::-1].tolist()
        self._room = np.empty((_ROOM, 3), dtype=np.uint32)
        ngrams = (_read_only(index.keys), _read_only(index.lengths), _read_only(index.firsts), _read_only(index.words))
        bits = max((len(index.keys) // _NGRAMS_PER_WORD).bit_length(), _LEAST_BITS)
        edges = np.arange(1 << _BUCKET_BITS, dtype=np.uint64) << np.uint64(64 - _BUCKET_BITS)
        buckets = np.append(np.searchsorted(ngrams[0], edges), len(ngrams[0])).astype(np.int64)
        self._tables = (prefilter(ngrams[0], bits), bits, buckets, _BUCKET_BITS)
        self._ngrams = ngrams

    def find(self, text: str) -> Hits:
        """Returns the occurrences of the index's n-grams in a text, longer ones first, each in text order."""
        hashes, starts, ends = word_hashes(text, self._rules.punctuation, self._rules.numbers)
        found = [hits for words in self._lengths if len(hits := self._find(hashes, words))]
        if not found:
            return _NOTHING
        hits = np.concatenate(found)
        last = hits[:, 0] + hits[:, 1] - 1
        hits[:, 0], hits[:, 1] = starts[hits[:, 0]], ends[last]
        return hits

    def _find(self, hashes: NDArray[np.uint64], words: int) -> Hits:
        from corpus_assets.contamination.kernels.search import find_ngrams

        count = find_ngrams(hashes, words, self._tables, self._ngrams, self._room)
        if count > len(self._room):
            self._room = np.empty((2 * count, 3), dtype=np.uint32)
            find_ngrams(hashes, words, self._tables, self._ngrams, self._room)
        return self._room[:count].copy() if count else _NOTHING


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Returns the array with the type that kernels are compiled for, whether it is a mapped file or not."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
