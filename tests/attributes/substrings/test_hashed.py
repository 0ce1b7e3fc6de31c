"""Groups of equal hashes, also where single words of different hashes are equal."""

import numpy as np
import pytest

from corpus_assets.attributes.substrings.hashed import bucket_of, in_groups
from corpus_assets.attributes.substrings.kernels.polynomial import FIRST_BASE, PRIME, SECOND_BASE, powers_of_bases


@pytest.mark.parametrize("values", [2, 5, 1 << 62])
@pytest.mark.parametrize("words", [2, 3])
def test_equal_hashes_stand_together_in_their_order(values: int, words: int) -> None:
    chance = np.random.default_rng(words)
    given = chance.integers(0, values, (400, words), dtype=np.uint64)
    given[200:] = given[:200]
    order, firsts = in_groups(given)
    assert sorted(order.tolist()) == list(range(400))
    groups = [group.tolist() for group in np.split(order, firsts[1:])]
    assert all(group == sorted(group) for group in groups)
    kinds = [{tuple(given[place].tolist()) for place in group} for group in groups]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(set.union(*kinds)) == len(groups)


def test_no_hashes_have_no_groups() -> None:
    order, firsts = in_groups(np.empty((0, 2), dtype=np.uint64))
    assert (len(order), len(firsts)) == (0, 0)


def test_buckets_are_equal_ranges() -> None:
    words = np.array([0, (1 << 63) - 1, 1 << 63, (1 << 64) - 1], dtype=np.uint64)
    assert bucket_of(words, 2).tolist() == [0, 0, 1, 1]
    assert bucket_of(words, 1000).tolist() == [0, 499, 500, 999]


def test_powers_are_those_of_both_bases() -> None:
    found = powers_of_bases(50)
    for lane, base in enumerate((int(FIRST_BASE), int(SECOND_BASE))):
        assert base < int(PRIME)
        assert found[lane].tolist() == [pow(base, n, int(PRIME)) for n in range(50)]
