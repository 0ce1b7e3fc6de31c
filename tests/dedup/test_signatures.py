import tracemalloc
from typing import Literal

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.signatures import NO_SHINGLE, SignatureScheme, featureless, sign
from resources.cleaning import clean

LEGACY = SignatureScheme(family="legacy")
ALPHABET = st.sampled_from("ab \n.-\u00e9\u0130\u4e2d\U0001f600")


def by_datasketch(text: str, scheme: SignatureScheme) -> NDArray[np.uint32]:
    sketch = MinHash(num_perm=scheme.permutations, seed=scheme.seed, scheme=scheme.family)
    cleaned = clean(text)
    for start in range(len(cleaned) - scheme.width + 1):
        sketch.update(cleaned[start : start + scheme.width].encode())
    return np.asarray(sketch.hashvalues, dtype=np.uint32)


@given(
    st.text(ALPHABET, max_size=60),
    st.sampled_from(["affine32", "legacy"]),
    st.sampled_from([1, 9, 128]),
    st.integers(0, 3),
    st.integers(1, 15),
)
@settings(max_examples=60)
def test_equals_datasketch(
    text: str, family: Literal["affine32", "legacy"], permutations: int, seed: int, width: int
) -> None:
    scheme = SignatureScheme(family, permutations, seed, width)
    [signature] = sign([text], scheme)
    assert signature.dtype == np.uint32
    assert signature.tolist() == by_datasketch(text, scheme).tolist()


@pytest.mark.parametrize("scheme", [SignatureScheme(), LEGACY], ids=lambda scheme: scheme.family)
def test_texts_longer_than_a_block_equal_datasketch(scheme: SignatureScheme) -> None:
    rng = np.random.default_rng(7)
    text = "".join(map(chr, rng.integers(0x61, 0x180, 40_000)))
    [signature] = sign([text], scheme)
    assert signature.tolist() == by_datasketch(text, scheme).tolist()


def test_legacy_vector_of_the_specification() -> None:
    text = "The quick brown fox jumps over the lazy dog while 1234 zebras watch na\u00efvely"
    cleaned_by_nothing = MinHash(num_perm=128, seed=1, scheme="legacy")
    for start in range(len(text) - 12):
        cleaned_by_nothing.update(text[start : start + 13].encode())
    assert cleaned_by_nothing.hashvalues[:4].tolist() == [16577316, 19445529, 41971003, 321773557]
    [signature] = sign([text], LEGACY)
    assert signature.tolist() == by_datasketch(text, LEGACY).tolist()


def test_fewer_code_points_than_a_shingle_is_featureless() -> None:
    texts = ["x" * 12, "x" * 13, "", "... " * 50, "x" * 12 + "!" * 20]
    signatures = np.stack(list(sign(texts, SignatureScheme())))
    assert featureless(signatures).tolist() == [True, False, True, True, True]
    assert (signatures[0] == NO_SHINGLE).all()


def test_texts_equal_after_cleaning_have_equal_signatures() -> None:
    first, second = sign(["Hello,   WORLD -- again and again", "hello world again and\tagain!"], SignatureScheme())
    assert first.tolist() == second.tolist()


def test_signatures_come_one_by_one() -> None:
    def texts() -> object:
        yield "the first text of two"
        raise AssertionError("read ahead")

    assert next(sign(texts(), SignatureScheme())).shape == (128,)  # type: ignore[arg-type]


def test_memory_for_a_long_text_is_bounded() -> None:
    """All shingles of a million code points at once would take 60 MB as strings and 500 MB permuted."""
    text = "".join(np.random.default_rng(1).choice(list("abcdefgh "), 300_000))
    list(sign(["warm the caches up"], LEGACY))
    tracemalloc.start()
    try:
        [signature] = sign([text], LEGACY)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not featureless(signature[None]).any()
    assert peak < 20 * len(text) + (16 << 20)


def test_agreement_estimates_jaccard() -> None:
    rng = np.random.default_rng(5)
    left = "".join(rng.choice(list("abcdefghijklmnop"), 4000))
    right = left[:3000] + "".join(rng.choice(list("abcdefghijklmnop"), 1000))
    shingles = [{text[i : i + 13] for i in range(len(text) - 12)} for text in (left, right)]
    truth = len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])
    first, second = sign([left, right], SignatureScheme(permutations=1024))
    assert abs((first == second).mean() - truth) < 0.06
