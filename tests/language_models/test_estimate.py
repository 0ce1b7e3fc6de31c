"""Probabilities of n-grams: those of KenLM's lmplz, which add up to one, whatever the memory and the hashes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.language_models import estimate, grams
from corpus_assets.language_models.arpa import arpa
from corpus_assets.language_models.counting import Counter
from corpus_assets.language_models.estimate import FALLBACK, Estimate, discounts_of
from corpus_assets.language_models.grams import Words, word_hash
from corpus_assets.language_models.tokens import lines_of, split_words
from corpus_assets.language_models.vocabulary import Vocabulary

RECORDED = Path(__file__).parent / "recorded"
TEXT = (RECORDED / "text.txt").read_text(encoding="utf-8")
NEAR = 2e-6
"""KenLM computes with 32 bits."""

Model = dict[str, tuple[float, float]]


def made(text: str, order: int, memory: int = 1 << 24, parts: int = 1) -> bytes:
    """The model of a text, whose lines are counted in several parts."""
    lines = list(lines_of(text, split_words))
    counters = [Counter(order) for _ in range(parts)]
    for number, line in enumerate(lines):
        assert not list(counters[number % parts].add([word_hash(word) for word in line]))
    blocks = [block for counter in counters for block in counter.rest()]
    found = Estimate(order, sum(map(len, blocks)), memory, tempfile.TemporaryFile)
    for block in blocks:
        found.add(block)
    found.count()
    words = (word for line in lines for word in line)
    with Vocabulary(words, memory, tempfile.TemporaryFile) as known:
        return b"".join(arpa(found, known))


def read(content: str) -> Model:
    """Log-probability and backoff of each n-gram."""
    rows = (line.split("\t") for line in content.splitlines())
    return {row[1]: (float(row[0]), float(row[2]) if len(row) > 2 else 0.0) for row in rows if len(row) > 1}


def logarithm(model: Model, context: list[str], word: str) -> float:
    """What a reader of ARPA gives: the longest n-gram that is there, and the backoffs of contexts before it."""
    if (known := model.get(" ".join([*context, word]))) is not None:
        return known[0]
    return model.get(" ".join(context), (0.0, 0.0))[1] + logarithm(model, context[1:], word)


@pytest.mark.parametrize("order", [2, 4])
def test_probabilities_are_those_of_lmplz(order: int) -> None:
    """The order of lines in a file is its own; n-grams, probabilities and backoffs are equal."""
    theirs = read((RECORDED / f"lmplz-{order}.arpa").read_text(encoding="utf-8"))
    ours = read(made(TEXT, order).decode())
    assert ours.keys() == theirs.keys()
    for gram, (probability, backoff) in theirs.items():
        assert ours[gram] == pytest.approx((probability, backoff), abs=NEAR), gram


def sums(model: Model, order: int) -> Iterator[float]:
    words = [gram for gram in model if " " not in gram and gram != "<s>"]
    contexts = [gram.split() for gram in model if gram.count(" ") < order - 1 and not gram.endswith("</s>")]
    for context in contexts[:: max(1, len(contexts) // 20)]:
        if context != ["<unk>"]:
            yield sum(10 ** logarithm(model, context, word) for word in words)


@settings(max_examples=25, deadline=None)
@given(
    lines=st.lists(st.lists(st.sampled_from("abcdé"), min_size=1, max_size=6), min_size=1, max_size=30),
    order=st.integers(2, 5),
)
def test_probabilities_behind_any_words_add_up_to_one(lines: list[list[str]], order: int) -> None:
    model = read(made("\n".join(map(" ".join, lines)), order).decode())
    for found in sums(model, order):
        assert found == pytest.approx(1.0, abs=1e-5)


def test_memory_and_parts_change_no_byte() -> None:
    whole = made(TEXT, 3)
    assert made(TEXT, 3, memory=1 << 12) == whole
    assert made(TEXT, 3, memory=1 << 16, parts=7) == whole


def test_equal_hashes_of_different_ngrams_change_no_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, keys_of = read(made(TEXT, 3).decode()), grams.keys_of

    def weak(words: Words) -> Words:
        return keys_of(words) & np.uint64(7 << 61)

    for module in (grams, estimate):
        monkeypatch.setattr(module, "keys_of", weak)
    assert read(made(TEXT, 3).decode()) == whole
    assert read(made(TEXT, 3, memory=1 << 12).decode()) == whole


def test_words_that_kenlm_takes_for_something_else_are_left_out() -> None:
    assert [*lines_of("a <s> b\u00a0c\n <unk> \n</s> <UNK> d\x00e", split_words)] == [["a", "b", "c"], ["d", "e"]]
    assert made("a <s> b\nc", 2) == made("a b\n</s>\nc <unk>", 2)


@pytest.mark.parametrize("number", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 9, 1), (9, 1, 1, 90)])
def test_discounts_that_counts_do_not_say_are_the_usual_ones(number: tuple[int, ...]) -> None:
    found = discounts_of(number)
    assert (found.amounts, found.is_fallback) == (FALLBACK, True)


def test_discounts_are_those_of_equation_26() -> None:
    share = 100 / (100 + 2 * 40)
    expected = (1 - 2 * share * 40 / 100, 2 - 3 * share * 20 / 40, 3 - 4 * share * 12 / 20)
    assert discounts_of((100, 40, 20, 12)).amounts == pytest.approx(expected)
