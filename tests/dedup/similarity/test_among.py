"""Documents that go because an earlier one is similar, against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.similarity.among import Likeness, first_similar, near
from corpus_assets.dedup.similarity.jaccard import CleanedTexts, ShingleSets
from tests.dedup import oracles
from tests.resources.test_spill import Files

SCHEME = SignatureScheme(unit="word", width=1)
WORDS = 400
WITH_INDEX, WITHOUT = 1 << 24, 0


def jaccard(left: str, right: str) -> float:
    one, other = (oracles.shingles(text, SCHEME) for text in (left, right))
    return len(one & other) / len(one | other) if one | other else 0.0


def by_definition(texts: list[str], threshold: float, fixed: int) -> list[int]:
    stay: list[int] = []
    places = []
    for place, text in enumerate(texts):
        like = () if place < fixed else (other for other in stay if jaccard(texts[other], text) >= threshold)
        places.append(next(iter(like), place))
        if places[-1] == place:
            stay.append(place)
    return places


def found(texts: list[str], threshold: float, fixed: int, memory: int, sets_memory: int = 1 << 24) -> list[int]:
    with Files()() as file:
        sets = ShingleSets(CleanedTexts(file, enumerate(texts)), SCHEME, sets_memory)
        sketches = np.zeros((len(texts), 8), dtype=np.uint8)
        likeness = Likeness(threshold, 0, memory)
        places: list[int] = first_similar(range(len(texts)), sketches, sets, likeness, fixed).tolist()
    return places


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    """Texts of one frame: each with words of its own, with some that others have too, and with some of it left out."""
    random = draw(st.randoms(use_true_random=False))
    frame = draw(st.integers(0, 60))
    own = draw(st.integers(0, 20))
    texts = []
    for _ in range(draw(st.integers(0, 25))):
        words = [f"f{number}" for number in range(frame) if random.random() > 0.05]
        words += [f"w{random.randrange(WORDS)}" for _ in range(random.randint(0, own))]
        texts.append(" ".join(random.sample(words, len(words))))
    return texts


@settings(max_examples=300)
@given(documents(), st.sampled_from([0.1, 0.5, 0.8, 0.95, 1.0]), st.integers(0, 10))
def test_a_document_joins_the_first_similar_one_that_stays(texts: list[str], threshold: float, fixed: int) -> None:
    expected = by_definition(texts, threshold, min(fixed, len(texts)))
    for memory in (WITH_INDEX, WITHOUT):
        assert found(texts, threshold, min(fixed, len(texts)), memory) == expected


def test_texts_too_large_for_memory_are_compared_all_the_same() -> None:
    texts = [" ".join(f"w{number}" for number in range(start, 300)) for start in (0, 10, 200, 70, 205)]
    assert found(texts, 0.8, 0, WITH_INDEX, sets_memory=1 << 10) == by_definition(texts, 0.8, 0) == [0, 0, 2, 3, 2]


def test_sketches_rule_pairs_out() -> None:
    texts = ["a b c d", "a b c d", "a b c d"]
    sketches = np.array([[0] * 8, [255] * 8, [0] * 7 + [1]], dtype=np.uint8)
    for memory in (WITH_INDEX, WITHOUT):
        with Files()() as file:
            sets = ShingleSets(CleanedTexts(file, enumerate(texts)), SCHEME, 1 << 20)
            assert first_similar(range(3), sketches, sets, Likeness(0.8, 63, memory)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("words", [1, 2, 16])
@given(st.integers(0, 12), st.integers(0, 2**32 - 1), st.integers(0, 64), st.integers(0, 12))
def test_near_sketches(words: int, n: int, seed: int, away: int, fixed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = np.tile(rng.integers(0, 2, 64 * words, dtype=np.uint8), (n, 1))
    flips = rng.integers(0, 40 * words, n)
    for row, flipped in enumerate(flips):
        bits[row, rng.permutation(64 * words)[:flipped]] ^= 1
    least = 64 * words - away * words // 2
    agree = (bits[:, None] == bits[None]).sum(axis=2)
    close = (agree >= least) & ~np.eye(n, dtype=bool)
    close[:fixed, :fixed] = False
    assert near(np.packbits(bits, axis=1), least, fixed).tolist() == close.any(axis=1).tolist()
