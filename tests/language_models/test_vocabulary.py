"""The words of a language model: found by hash, from files, whatever their number."""

import tempfile
import tracemalloc
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from corpus_assets.language_models import vocabulary
from corpus_assets.language_models.grams import BEGIN_HASH, END_HASH, word_hash
from corpus_assets.language_models.vocabulary import Vocabulary
from resources.errors import CorpusError

WORDS = ["a", "b", "ü", "大" * 99, "a", "\ud7ff"]


def test_words_are_found_by_their_hashes() -> None:
    with Vocabulary(WORDS, 64, tempfile.TemporaryFile) as words:
        assert len(words) == 5
        asked = np.array(
            [[word_hash(word) for word in WORDS], [BEGIN_HASH, END_HASH, *[word_hash("a")] * 4]], np.uint64
        )
        named, rows = words.named(asked)
        assert rows.shape == asked.shape
        assert [word.decode() for word in named.take(pa.array(rows[0])).to_pylist()] == WORDS
        assert named.take(pa.array(rows[1])).to_pylist() == [b"<s>", b"</s>", *[b"a"] * 4]
        for absent in (0, word_hash("c"), 2**64 - 1):
            with pytest.raises(CorpusError, match="no list of words"):
                words.named(np.array([[absent]], np.uint64))
    with Vocabulary([], 64, tempfile.TemporaryFile) as words:
        assert len(words) == 0
        named, rows = words.named(np.array([[END_HASH]], np.uint64))
        assert named.take(pa.array(rows[0])).to_pylist() == [b"</s>"]


def test_two_words_with_one_hash_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "word_hashes", partial(map, len))
    with pytest.raises(CorpusError, match="two words have one hash"):
        Vocabulary(["ab", "a", "cd"], 64, tempfile.TemporaryFile)


def test_memory_does_not_grow_with_the_number_of_words() -> None:
    def most(count: int) -> int:
        tracemalloc.start()
        try:
            with Vocabulary((f"the word {n}" for n in range(count)), 1 << 16, tempfile.TemporaryFile) as words:
                assert len(words) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(1000)
    assert most(14_000) - most(4_000) < 400_000  # A dictionary of so many more has 1 MB.
