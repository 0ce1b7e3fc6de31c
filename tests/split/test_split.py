"""Holdout by content hash, before repetition and per source; validation and test; decontamination."""

import hashlib
import tracemalloc
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.split import decontaminate, holdout
from corpus_assets.split.decontaminate import contaminated, unique_digests
from corpus_assets.split.holdout import (
    count_threshold,
    held_out,
    holdout_hash,
    is_validation,
    leading,
    share_threshold,
    smallest,
)
from resources.hashing import keyed_hash

DIGESTS = [hashlib.sha256(str(number).encode()).digest() for number in range(20_000)]
FEW = st.lists(st.sampled_from(DIGESTS[:12]), max_size=30)


def held(digests: list[bytes], threshold: int, seed: int = 0, source: str = "s") -> NDArray[np.bool_]:
    return held_out([source] * len(digests), digests, seed, {source: threshold})


def blocks(*lists: list[bytes]) -> list[NDArray[np.uint8]]:
    return [np.frombuffer(b"".join(part), dtype=np.uint8).reshape(-1, 32) for part in lists]


@pytest.mark.parametrize("share", [0.001, 0.0017, 0.1, 0.5, 0.99])
def test_share_of_the_texts(share: float) -> None:
    found = held(DIGESTS, share_threshold(share)).sum()
    assert abs(found - share * len(DIGESTS)) < 4 * (len(DIGESTS) * share * (1 - share)) ** 0.5


def test_no_share_holds_nothing_and_a_whole_share_all() -> None:
    assert not held(DIGESTS, share_threshold(0.0)).any()
    assert held(DIGESTS, share_threshold(1.0)).all()
    assert not held_out(["other"], DIGESTS[:1], 0, {"s": 2**64}).any()


@pytest.mark.parametrize("count", [0, 1, 7, 19_999, 20_000, 30_000])
def test_count_is_exact(count: int) -> None:
    threshold = count_threshold((holdout_hash(3, "s", digest) for digest in DIGESTS), count)
    assert held(DIGESTS, threshold, seed=3).sum() == min(count, len(DIGESTS))


@given(FEW, st.integers(0, 20), st.integers(0, 2**63 - 1))
def test_equal_texts_of_a_source_stay_together(digests: list[bytes], count: int, seed: int) -> None:
    threshold = count_threshold((holdout_hash(seed, "s", digest) for digest in digests), count)
    flags = held(digests, threshold, seed)
    inside = {digest for digest, flag in zip(digests, flags, strict=True) if flag}
    outside = {digest for digest, flag in zip(digests, flags, strict=True) if not flag}
    assert not inside & outside
    assert len(inside) == min(count, len(set(digests)))


@given(st.lists(st.integers(0, 40)), st.integers(0, 12) | st.just(2**70), st.integers(1, 5))
def test_smallest_hashes_in_blocks(hashes: list[int], count: int, block: int) -> None:
    hashes = [2**64 - 1 - number for number in hashes]
    with patch.object(holdout, "_BLOCK", block):
        assert smallest(hashes, count).tolist() == sorted(set(hashes))[:count]


def test_a_count_of_few_among_many_takes_little_memory() -> None:
    hashes = (keyed_hash("many", 0, number) for number in range(300_000))
    tracemalloc.start()
    try:
        assert count_threshold(hashes, 100)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@given(st.floats(0, 1), st.floats(0, 1), FEW)
def test_a_larger_share_only_adds(left: float, right: float, digests: list[bytes]) -> None:
    small, large = (held(digests, share_threshold(share)) for share in sorted((left, right)))
    assert not (small & ~large).any()


def test_sources_and_seeds_choose_apart() -> None:
    threshold = share_threshold(0.5)
    base = held(DIGESTS[:500], threshold)
    assert 0.3 < (base == held(DIGESTS[:500], threshold, source="t")).mean() < 0.7
    assert 0.3 < (base == held(DIGESTS[:500], threshold, seed=1)).mean() < 0.7


def test_thresholds_are_per_source() -> None:
    flags = held_out(["a", "b"] * 50, DIGESTS[:100], 0, {"a": 2**64, "b": 0})
    assert flags.tolist() == [True, False] * 50


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_leading_rows(rows: int, share: float) -> None:
    flags = leading(rows, share)
    assert len(flags) == rows
    assert flags.sum() == int(rows * share)
    assert not flags[int(rows * share) :].any()


@given(FEW, st.floats(0, 1), st.integers(0, 2**63 - 1))
def test_validation_parts_the_holdout_by_text(digests: list[bytes], share: float, seed: int) -> None:
    flags = is_validation(["s"] * len(digests), digests, seed, share)
    chosen = Counter(digest for digest, flag in zip(digests, flags, strict=True) if flag)
    rest = Counter(digest for digest, flag in zip(digests, flags, strict=True) if not flag)
    assert not set(chosen) & set(rest)
    assert chosen + rest == Counter(digests)


def test_validation_share_and_its_independence_of_the_holdout() -> None:
    assert is_validation(["s"] * 9, DIGESTS[:9], 0, 1.0).all()
    assert not is_validation(["s"] * 9, DIGESTS[:9], 0, 0.0).any()
    inside = [digest for digest, flag in zip(DIGESTS, held(DIGESTS, share_threshold(0.1)), strict=True) if flag]
    assert 0.45 < is_validation(["s"] * len(inside), inside, 0, 0.5).mean() < 0.55


@given(st.lists(FEW, max_size=4))
def test_unique_digests(lists: list[list[bytes]]) -> None:
    found = unique_digests(blocks(*lists))
    assert found.dtype == np.uint8
    assert [bytes(row) for row in found] == sorted({digest for part in lists for digest in part})


@given(FEW, FEW)
def test_contaminated_is_membership(train: list[bytes], holdout: list[bytes]) -> None:
    flags = contaminated(train, unique_digests(blocks(holdout)))
    assert flags.tolist() == [digest in holdout for digest in train]


ALIKE = st.lists(st.tuples(st.sampled_from([0, 1, 255]), st.integers(0, 3)), max_size=12).map(
    lambda pairs: [bytes([head]) * 8 + bytes(23) + bytes([tail]) for head, tail in pairs]
)


@given(ALIKE, ALIKE, st.integers(1, 3))
def test_digests_that_begin_alike_are_told_apart_in_blocks(train: list[bytes], holdout: list[bytes], rows: int) -> None:
    with patch.object(decontaminate, "_BLOCK", rows):
        flags = contaminated(train, unique_digests(blocks(holdout)))
    assert flags.tolist() == [digest in holdout for digest in train]


def test_digests_that_end_in_zeros_are_told_apart() -> None:
    """Fixed-width byte strings of numpy lose trailing zeros; digests must not."""
    zeros, short = bytes(32), b"\x01" + bytes(31)
    found = unique_digests(blocks([zeros, short, zeros]))
    assert [bytes(row) for row in found] == [zeros, short]
    assert contaminated([zeros, short, b"\x02" * 32], found).tolist() == [True, True, False]
