import gzip
import json
import tracemalloc
from collections.abc import Iterator
from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.constants import NO_SHINGLE
from corpus_assets.dedup.signatures.minhash import featureless, sign
from corpus_assets.dedup.signatures.scheme import Family, SignatureScheme, Unit
from corpus_assets.dedup.signatures.shingles import cleaned_bytes, shingle_hashes
from tests.dedup import oracles
from tests.golden import shared

AFFINE = SignatureScheme()
LEGACY = SignatureScheme(family="legacy")
OPH = SignatureScheme(family="oph")
ALPHABET = st.sampled_from("abcde  \n.-\x00\u00e9\u0130\u03a3\u4e2d\ud800\U0001f600")
TEXTS = st.lists(st.one_of(st.text(ALPHABET, max_size=90), st.text(max_size=40)), max_size=5)
SCHEMES = st.builds(
    SignatureScheme,
    family=st.sampled_from(["affine32", "legacy", "oph"]),
    permutations=st.sampled_from([1, 3, 4, 9, 16, 17, 127, 128, 130]),
    seed=st.integers(0, 9),
    width=st.integers(1, 20),
    unit=st.sampled_from(["char", "word"]),
)


@cache
def real_texts() -> list[str]:
    """The beginnings of a few hundred documents in some forty scripts."""
    texts = pq.read_table(shared("data", "parquet", "udhr.parquet"))["text"].to_pylist()[::3]
    texts += pq.read_table(shared("data", "parquet", "udhr_nfd.parquet"))["text"].to_pylist()[::2]
    for folder in ("books", "cc", "man"):
        for path in sorted(shared("data", "dolma", "documents", folder).rglob("*.jsonl.gz"))[:2]:
            with gzip.open(path) as lines:
                texts += [json.loads(line)["text"] for line in list(lines)[:20]]
    return [text[:1200] for text in texts]


def signed(texts: list[str], scheme: SignatureScheme, block: int = 1024) -> NDArray[np.uint32]:
    blocks = list(sign(texts, scheme, block))
    return np.concatenate([np.empty((0, scheme.permutations), dtype=np.uint32), *blocks])


@given(TEXTS, SCHEMES)
@settings(max_examples=200)
def test_any_text_and_scheme(texts: list[str], scheme: SignatureScheme) -> None:
    """`affine32` and `legacy` equal datasketch, `oph` its definition; neither batch nor block matters."""
    signatures = signed(texts, scheme)
    assert signatures.dtype == np.uint32
    assert np.array_equal(signatures, oracles.signatures(texts, scheme))
    assert np.array_equal(signatures, signed(texts, scheme, block=2))


@pytest.mark.parametrize("width", [2, 13, 14, 15, 16, 55, 56, 63, 64, 120, 1000])
@pytest.mark.parametrize("unit", ["char", "word"])
def test_shingles_of_every_length(width: int, unit: Unit) -> None:
    """One SHA-1 block takes 55 bytes; texts are ASCII, mixed, and of one script with four bytes a letter."""
    rng = np.random.default_rng(width)
    alphabets = ["abcdefg   ", "abcdefg   \u00e9\u4e2d", "\U00010450\U00010451\U00010452 "]
    texts = ["".join(rng.choice(list(alphabet), 2200)) for alphabet in alphabets]
    families: tuple[Family, ...] = ("affine32", "legacy", "oph")
    for family in families:
        scheme = SignatureScheme(family, permutations=16, width=width, unit=unit)
        assert np.array_equal(signed(texts, scheme), oracles.signatures(texts, scheme))


@pytest.mark.parametrize("scheme", [AFFINE, LEGACY, OPH], ids=lambda scheme: scheme.family)
def test_real_texts(scheme: SignatureScheme) -> None:
    texts = real_texts()
    assert np.array_equal(signed(texts, scheme), oracles.signatures(texts, scheme))


@pytest.mark.parametrize("scheme", [AFFINE, LEGACY, OPH], ids=lambda scheme: scheme.family)
def test_a_long_text(scheme: SignatureScheme) -> None:
    rng = np.random.default_rng(7)
    text = "".join(map(chr, rng.integers(0x61, 0x180, 40_000)))
    texts = ["short", text, "x" * 50]
    assert np.array_equal(signed(texts, scheme), oracles.signatures(texts, scheme))


def test_legacy_vector_of_the_specification() -> None:
    text = "The quick brown fox jumps over the lazy dog while 1234 zebras watch na\u00efvely"
    sketch = MinHash(num_perm=128, seed=1, scheme="legacy")
    for start in range(len(text) - 12):
        sketch.update(text[start : start + 13].encode())
    assert sketch.hashvalues[:4].tolist() == [16577316, 19445529, 41971003, 321773557]
    assert np.array_equal(signed([text], LEGACY), oracles.signatures([text], LEGACY))


@pytest.mark.parametrize("scheme", [AFFINE, LEGACY, OPH], ids=lambda scheme: scheme.family)
def test_fewer_units_than_a_shingle_is_featureless(scheme: SignatureScheme) -> None:
    texts = ["x" * 12, "x" * 13, "", "... " * 50, "x" * 12 + "!" * 20, "\u4e2d" * 12, "\u4e2d" * 13]
    signatures = signed(texts, scheme)
    assert featureless(signatures).tolist() == [True, False, True, True, True, True, False]
    assert (signatures[0] == NO_SHINGLE).all()


def test_blocks_come_in_order_and_none_for_no_texts() -> None:
    texts = [f"text number {number} of two hundred" for number in range(200)]
    blocks = list(sign(texts, AFFINE, block=64))
    assert [block.shape for block in blocks] == [(64, 128), (64, 128), (64, 128), (8, 128)]
    assert np.array_equal(np.concatenate(blocks)[::-1], signed(texts[::-1], AFFINE))
    assert list(sign([], AFFINE)) == []
    assert [len(block) for block in sign(texts[:128], AFFINE, block=64)] == [64, 64]


def test_a_block_is_given_before_the_next_text_is_read() -> None:
    def texts() -> Iterator[str]:
        yield from ("the first text of three", "the second text of three")
        raise AssertionError("read ahead")

    assert next(sign(texts(), AFFINE, block=2)).shape == (2, 128)


def test_texts_equal_after_cleaning_have_equal_signatures() -> None:
    first, second = signed(["Hello,   WORLD -- again and again", "hello world again and\tagain!"], AFFINE)
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("scheme", [AFFINE, OPH], ids=lambda scheme: scheme.family)
@pytest.mark.parametrize("letters", ["abcdefgh ", "x", "\u4e2d\u6587 "])
@pytest.mark.parametrize("size", [2_000_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_a_giant_text_takes_a_few_times_its_size(scheme: SignatureScheme, letters: str, size: int) -> None:
    text = "".join(np.random.default_rng(1).choice(list(letters), size // len(letters[0].encode())))
    signed(["warm the caches up \u4e2d"], scheme)
    tracemalloc.start()
    try:
        signatures = signed([text], scheme)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not featureless(signatures).any()
    assert peak < 8 * size


def test_a_word_of_a_megabyte_is_hashed_in_linear_time() -> None:
    texts = ["a b " + "x" * 1_000_000 + " c d e " + "y z " * 2000]
    scheme = SignatureScheme(permutations=4, width=3, unit="word")
    assert np.array_equal(signed(texts, scheme), oracles.signatures(texts, scheme))


@cache
def pairs(count: int, jaccard: float) -> tuple[list[str], float]:
    """Texts in pairs of 600 words a side, and the Jaccard similarity of the two sides."""
    size = 600
    common = round(2 * size * jaccard / (1 + jaccard))
    texts = []
    for number in range(count):
        words = [f"{number}w{word}" for word in range(2 * size - common)]
        texts += [" ".join(words[:size]), " ".join(words[size - common :])]
    return texts, common / (2 * size - common)


@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("bins", [100, 128, 1000])
def test_oph_estimates_jaccard_without_bias(jaccard: float, bins: int) -> None:
    """Also where most bins are empty before densification (600 shingles in 1000 bins)."""
    texts, truth = pairs(300, jaccard)
    signatures = signed(texts, SignatureScheme(family="oph", permutations=bins, width=1, unit="word"))
    estimates = (signatures[0::2] == signatures[1::2]).mean(axis=1)
    error = np.sqrt(truth * (1 - truth) / bins)
    assert abs(estimates.mean() - truth) < 5 * error / np.sqrt(len(estimates))
    assert estimates.std() < 2 * error


@pytest.mark.parametrize("bins", [1, 3, 128, 1000])
def test_oph_fills_every_slot(bins: int) -> None:
    texts = ["exactly 13 ch", "fourteen chars", "a text with a few more shingles than that"]
    signatures = signed(texts, SignatureScheme(family="oph", permutations=bins))
    assert not (signatures == NO_SHINGLE).any()
    assert len(np.unique(signatures[0])) == 1
    other = signed(texts, SignatureScheme(family="oph", permutations=bins, seed=2))
    assert not (signatures == other).all(axis=1).any()


@given(st.lists(st.text(ALPHABET, max_size=80), min_size=2, max_size=2), SCHEMES)
def test_hashes_stand_for_the_set_of_shingles(texts: list[str], scheme: SignatureScheme) -> None:
    sets = [oracles.shingles(text, scheme) for text in texts]
    hashes = [shingle_hashes(cleaned_bytes(text), scheme) for text in texts]
    for values, found in zip(hashes, sets, strict=True):
        assert values.dtype == np.uint64
        assert (values[1:] > values[:-1]).all()
        assert len(values) == len(found)
    for values, text in zip(hashes, texts, strict=True):
        defined = oracles.window_hashes(oracles.cleaned_bytes(text), scheme.unit, scheme.width)
        assert values.tolist() == np.unique(defined).tolist()
    assert len(np.intersect1d(hashes[0], hashes[1])) == len(sets[0] & sets[1])


def test_hashes_of_real_shingles_do_not_collide() -> None:
    units: tuple[Unit, ...] = ("char", "word")
    for scheme in (SignatureScheme(width=width, unit=unit) for unit in units for width in (3, 13)):
        for text in real_texts()[::7]:
            assert len(shingle_hashes(cleaned_bytes(text), scheme)) == len(oracles.shingles(text, scheme))
