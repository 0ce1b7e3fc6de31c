"""Probabilities of n-grams: those of KenLM's lmplz, which add up to one, whatever the memory and the hashes."""

import math
import tempfile
from collections import Counter as Counts
from collections.abc import Iterator, Sequence
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


def made(text: str, order: int, memory: int = 1 << 24, parts: int = 1, prune: Sequence[int] = ()) -> bytes:
    """The model of a text, whose lines are counted in several parts."""
    lines = list(lines_of(text, split_words))
    counters = [Counter(order) for _ in range(parts)]
    for number, line in enumerate(lines):
        assert not list(counters[number % parts].add([word_hash(word) for word in line]))
    blocks = [block for counter in counters for block in counter.rest()]
    found = Estimate(order, sum(map(len, blocks)), memory, tempfile.TemporaryFile, prune)
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


@pytest.mark.parametrize(("order", "prune"), [(2, ()), (4, ()), (4, (0, 0, 1, 2)), (3, (0, 3, 3))])
def test_probabilities_are_those_of_lmplz(order: int, prune: tuple[int, ...]) -> None:
    """The order of lines in a file is its own; n-grams, probabilities and backoffs are equal."""
    name = "-".join(["lmplz", str(order), *(["prune", *map(str, prune)] if prune else [])])
    content, made_here = (RECORDED / f"{name}.arpa").read_text(encoding="utf-8"), made(TEXT, order, prune=prune)
    theirs, ours = read(content), read(made_here.decode())
    assert ours.keys() == theirs.keys()
    assert made_here.decode().partition("\n\n")[0] == content.partition("\n\n")[0]
    for gram, (probability, backoff) in theirs.items():
        assert ours[gram] == pytest.approx((probability, backoff), abs=NEAR), gram


def defined(lines: list[list[str]], order: int, prune: Sequence[int]) -> Model:
    """The model by its definition, n-gram by n-gram."""
    whole = [("<s>", *line, "</s>") for line in lines]
    occurs = {n: Counts(w[i : i + n] for w in whole for i in range(len(w) - n + 1)) for n in range(1, order + 1)}
    before = {n: Counts(gram[1:] for gram in occurs[n + 1]) for n in range(1, order)}
    count = {n: {g: c if n == order or g[0] == "<s>" else before[n][g] for g, c in occurs[n].items()} for n in occurs}
    del count[1][("<s>",)]
    discounts = {n: discounts_of([[*found.values()].count(c) for c in (1, 2, 3, 4)]) for n, found in count.items()}

    def lost(gram: tuple[str, ...]) -> float:
        here, is_pruned = count[len(gram)][gram], occurs[len(gram)][gram] <= prune[len(gram) - 1]
        return here if is_pruned else discounts[len(gram)].amounts[min(here, 3) - 1]

    def behind(context: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [gram for gram in count[len(context) + 1] if gram[:-1] == context]

    def rest(context: tuple[str, ...]) -> float:
        found = behind(context) if len(context) < order else []
        return sum(map(lost, found)) / sum(count[len(gram)][gram] for gram in found) if found else 1.0

    def share(gram: tuple[str, ...]) -> float:
        if not gram:
            return 1 / (len(count[1]) + 1)
        here, total = count[len(gram)][gram], sum(count[len(gram)][one] for one in behind(gram[:-1]))
        return (here - lost(gram)) / total + rest(gram[:-1]) * share(gram[1:])

    stay = [gram for n in range(1, order + 1) for gram in count[n] if occurs[n][gram] > prune[n - 1]]
    shares = {gram: (share(gram), rest(gram)) for gram in stay}
    shares |= {("<unk>",): (rest(()) * share(()), 1.0), ("<s>",): (1.0, rest(("<s>",)))}
    return {
        " ".join(gram): (math.log10(own), math.log10(left) if left else -99) for gram, (own, left) in shares.items()
    }


LINES = st.lists(st.lists(st.sampled_from("abcdé"), min_size=1, max_size=6), min_size=1, max_size=30)
PRUNE = st.lists(st.integers(0, 5), min_size=4, max_size=4).map(lambda found: [0, *sorted(found)])


@settings(max_examples=40, deadline=None)
@given(lines=LINES, order=st.integers(2, 5), prune=PRUNE)
def test_a_pruned_model_is_what_its_definition_says(lines: list[list[str]], order: int, prune: list[int]) -> None:
    expected = defined(lines, order, prune)
    ours = read(made("\n".join(map(" ".join, lines)), order, prune=prune[:order]).decode())
    assert ours.keys() == expected.keys()
    for gram, numbers in expected.items():
        assert ours[gram] == pytest.approx(numbers, abs=1e-6), gram


def sums(model: Model, order: int) -> Iterator[float]:
    words = [gram for gram in model if " " not in gram and gram != "<s>"]
    contexts = [gram.split() for gram in model if gram.count(" ") < order - 1 and not gram.endswith("</s>")]
    for context in contexts[:: max(1, len(contexts) // 20)]:
        if context != ["<unk>"]:
            yield sum(10 ** logarithm(model, context, word) for word in words)


@settings(max_examples=25, deadline=None)
@given(lines=LINES, order=st.integers(2, 5), prune=PRUNE)
def test_probabilities_behind_any_words_add_up_to_one(lines: list[list[str]], order: int, prune: list[int]) -> None:
    model = read(made("\n".join(map(" ".join, lines)), order, prune=prune[:order]).decode())
    for found in sums(model, order):
        assert found == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("prune", [(), (0, 1, 2)])
def test_memory_and_parts_change_no_byte(prune: tuple[int, ...]) -> None:
    whole = made(TEXT, 3, prune=prune)
    assert made(TEXT, 3, memory=1 << 12, prune=prune) == whole
    assert made(TEXT, 3, memory=1 << 16, parts=7, prune=prune) == whole


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


def test_a_context_without_a_rest_is_written_as_a_number() -> None:
    """Of its n-grams all have a count of which the discount is 0; `lmplz` writes -inf, which KenLM does not read."""
    assert discounts_of((6, 3, 4, 1)).amounts[1] == 0
    pairs = [(f"a{n}", f"x{n}", count) for n, count in enumerate([1] * 6 + [2] * 3 + [3] * 4 + [4])]
    text = "\n".join(f"{first} {second}" for first, second, count in pairs for _ in range(count))
    model = read(made(text, 2).decode())
    assert {gram for gram, (_, backoff) in model.items() if backoff == -99} == {"a6", "a7", "a8", "x6", "x7", "x8"}


def test_discounts_are_those_of_equation_26() -> None:
    share = 100 / (100 + 2 * 40)
    expected = (1 - 2 * share * 40 / 100, 2 - 3 * share * 20 / 40, 3 - 4 * share * 12 / 20)
    assert discounts_of((100, 40, 20, 12)).amounts == pytest.approx(expected)
