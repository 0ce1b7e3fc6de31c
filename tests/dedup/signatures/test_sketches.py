import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.signatures.minhash import sign, sign_and_sketch
from corpus_assets.dedup.signatures.one_permutation import rotations, salt_of, sketch_salt
from corpus_assets.dedup.signatures.scheme import Family, SignatureScheme
from corpus_assets.dedup.signatures.sketches import agreeing, as_words, estimate, least_agreement
from resources.formats.texts import batches
from tests.dedup import oracles

BITS = st.sampled_from([64, 128, 192, 1024])
TEXTS = st.lists(st.text(st.sampled_from("ab \n.-\u00e9\u4e2d\U0001f600"), max_size=90), min_size=1, max_size=6)


def sketched(texts: list[str], scheme: SignatureScheme, bits: int, block: int = 1024) -> NDArray[np.uint8]:
    return np.concatenate([sketches for _, sketches in sign_and_sketch(batches(texts, block), scheme, bits)])


@settings(max_examples=60)
@given(TEXTS, st.sampled_from([("char", 13), ("char", 2), ("word", 2)]), BITS, st.integers(0, 3))
def test_a_bit_is_the_lowest_of_a_slot(texts: list[str], shingle: tuple[str, int], bits: int, seed: int) -> None:
    scheme = SignatureScheme(seed=seed, unit="word" if shingle[0] == "word" else "char", width=shingle[1])
    expected = [oracles.sketch(text, scheme, bits).tolist() for text in texts]
    assert sketched(texts, scheme, bits).tolist() == expected


def random_text(length: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("abcdefghijklmnop "), length))


@pytest.mark.parametrize("length", [13, 40, 1000, 30_000])
def test_texts_of_all_lengths(length: int) -> None:
    texts = [random_text(length, seed) for seed in range(3)]
    expected = [oracles.sketch(text, SignatureScheme(), 1024) for text in texts]
    assert np.array_equal(sketched(texts, SignatureScheme(), 1024), expected)


@pytest.mark.parametrize("family", ["affine32", "legacy", "oph"])
def test_signatures_are_those_without_sketches(family: Family) -> None:
    scheme = SignatureScheme(family)
    texts = [random_text(length, length) for length in (0, 12, 13, 300, 5000)]
    found = list(sign_and_sketch(batches(texts, 2), scheme, 64))
    assert [len(sketches) for _, sketches in found] == [2, 2, 1]
    assert np.array_equal(
        np.concatenate([signatures for signatures, _ in found]), np.concatenate(list(sign(texts, scheme)))
    )


@given(st.permutations(range(8)), st.integers(1, 9))
@settings(max_examples=20)
def test_neither_order_nor_neighbours_matter(order: list[int], block: int) -> None:
    texts = [random_text(40 * number, number) for number in range(8)]
    expected = sketched(texts, SignatureScheme(), 256)
    assert np.array_equal(sketched([texts[number] for number in order], SignatureScheme(), 256, block), expected[order])


def test_a_text_without_a_shingle_has_no_bit() -> None:
    sketches = sketched(["x" * 12, "", "x" * 200, "the first text that has shingles"], SignatureScheme(), 1024)
    assert not sketches[:2].any()
    assert sketches[3].any()
    # One shingle: every bin copies it.
    assert len(set(sketches[2].tolist())) == 1


def test_seeds_and_signatures_have_their_own_hashes() -> None:
    salts = [salt(seed) for seed in range(200) for salt in (salt_of, sketch_salt)]
    assert len(set(salts)) == 400
    text = [random_text(5000, 1)]
    first, second = (as_words(sketched(text, SignatureScheme(seed=seed), 1024)) for seed in (1, 2))
    assert 400 < agreeing(first, 0, second, np.zeros(1, dtype=np.int64))[0] < 624
    [signature] = sign(text, SignatureScheme("oph", permutations=1024, seed=1))
    of_signature = np.packbits(signature & 1, axis=1, bitorder="little")
    assert 400 < agreeing(first, 0, as_words(of_signature), np.zeros(1, dtype=np.int64))[0] < 624


@given(st.integers(1, 300), st.integers(0, 2**64 - 1))
@settings(max_examples=30)
def test_rotations_reach_every_other_bin_once(bins: int, salt: int) -> None:
    assert sorted(rotations(bins, salt).tolist()) == list(range(1, bins))


def pairs_of_sets(shingles: int, jaccard: float, count: int) -> NDArray[np.float64]:
    """Estimates for pairs of sets of so many random hashes, by the definition."""
    other = round(shingles * (1 - jaccard) / (1 + jaccard))
    rng = np.random.default_rng(shingles)
    found = []
    for _ in range(count):
        hashes = rng.integers(0, 1 << 64, shingles + other, dtype=np.uint64)
        sides = [oracles.one_permutation(side, 1024, 7) & 1 for side in (hashes[:shingles], hashes[other:])]
        found.append(float(estimate(int((sides[0] == sides[1]).sum()), 1024)) - (shingles - other) / (shingles + other))
    return np.array(found)


@pytest.mark.parametrize("shingles", [100, 1000, 20_000])
@pytest.mark.parametrize("jaccard", [0.5, 0.8])
def test_the_estimate_is_unbiased_for_sets_of_any_size(shingles: int, jaccard: float) -> None:
    count = 200
    errors = pairs_of_sets(shingles, jaccard, count)
    error = ((1 - jaccard**2) / 1024) ** 0.5
    # Bins that repeat each other make up to a third more of it in sets with fewer shingles than bins.
    assert 0.75 * error < errors.std() < (1.4 if shingles < 1024 else 1.2) * error
    assert abs(errors.mean()) < 4 * errors.std() / count**0.5


@pytest.mark.parametrize("shingles", [100, 1000, 20_000])
def test_sketches_of_texts_estimate_jaccard(shingles: int) -> None:
    """Texts whose second half differs, so that the sets of their shingles have a third in common."""
    half = shingles // 2
    texts = [
        random_text(half, seed) + random_text(half + 12, 1000 + other)
        for seed in range(40)
        for other in (seed, ~seed % 997)
    ]
    words = as_words(sketched(texts, SignatureScheme(), 1024))
    estimates = estimate(agreeing(words[::2].copy(), 0, words, np.arange(1, 80, 2)), 1024)
    assert abs(estimates.mean() - (half - 12) / (2 * shingles - half + 12)) < 4 * 0.04 / 40**0.5


@pytest.mark.parametrize("bits", [64, 1024, 32768])
def test_agreeing_bits_as_counted_one_by_one(bits: int) -> None:
    rng = np.random.default_rng(bits)
    sketches = rng.integers(0, 256, (7, bits // 8), dtype=np.uint8)
    sketches[3] = sketches[0]
    others = np.array([3, 2, 2, 0, 6], dtype=np.int64)
    rows = np.concatenate([np.full((5, 2), 9, dtype=np.uint64), as_words(sketches[:5])], axis=1)
    unpacked = np.unpackbits(sketches, axis=1)
    assert (
        agreeing(rows, 2, as_words(sketches), others).tolist()
        == (unpacked[:5] == unpacked[others]).sum(axis=1).tolist()
    )


def test_the_estimate_at_its_ends() -> None:
    assert [float(estimate(agree, 1024)) for agree in (1024, 512, 0)] == [1.0, 0.0, -1.0]
    assert (least_agreement(0.8, 1024), least_agreement(1.0, 128), least_agreement(0.0, 128)) == (922, 128, 64)
    assert least_agreement(0.8, 320) == 288
    assert least_agreement(float("inf"), 128) == 129


@given(st.floats(0, 1), st.integers(1, 30).map(lambda words: 64 * words))
def test_least_agreement_is_the_first_that_reaches_the_threshold(threshold: float, bits: int) -> None:
    least = least_agreement(threshold, bits)
    assert estimate(least, bits) >= threshold
    assert estimate(least - 1, bits) < threshold


def test_thresholds_and_sizes_out_of_range() -> None:
    for threshold in (-1.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="valid: -1 to 1"):
            least_agreement(threshold, 128)
    for bits in (0, 63, 100, 32768 + 64):
        with pytest.raises(ValueError, match=f"sketches of {bits} bits; valid: multiples of 64 up to 32768"):
            sign_and_sketch([], SignatureScheme(), bits)
