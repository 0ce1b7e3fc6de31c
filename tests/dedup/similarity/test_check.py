from collections.abc import Callable, Iterator
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.assets import RangeHooks
from corpus_assets.dedup.hooks import ComponentsHooks, VerifiedHooks
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.shared import SURE
from corpus_assets.dedup.signatures.minhash import sign_and_sketch
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.similarity.check import Check, Verification, away, surely_above
from corpus_assets.dedup.similarity.jaccard import occurring
from corpus_assets.dedup.similarity.sketch_join import agreements
from resources.formats.texts import batches
from tests.resources.test_spill import Files

SCHEME = SignatureScheme()
BITS = 512
LENGTH = 2000
EDITS = (0, 20, 60, 200, 400, 1000, 2000)


def shingles(text: str) -> set[str]:
    return {text[start : start + SCHEME.width] for start in range(len(text) - SCHEME.width + 1)}


def texts() -> list[str]:
    """One text, and copies of it with more and more of their end exchanged."""
    rng = np.random.default_rng(3)
    first = "".join(rng.choice(list("abcdefgh"), LENGTH))
    return [first, *(first[: LENGTH - edit] + "".join(rng.choice(list("abcdefgh"), edit)) for edit in EDITS)]


class Texts:
    """Hands out the texts that are asked for, and remembers which."""

    def __init__(self, found: list[str]) -> None:
        self.found = found
        self.read: list[int] = []

    def __call__(self, bitmap: NDArray[np.uint8]) -> Iterator[tuple[int, str]]:
        self.read = np.flatnonzero(occurring(bitmap, 0, len(self.found))).tolist()
        return ((number, self.found[number]) for number in self.read)


def checked(
    how: Check,
    on_by_text: Callable[[int], None] = lambda _: None,
    found: list[str] | None = None,
    threshold: float = 0.8,
) -> tuple[list[int], Texts]:
    """The later documents of the pairs with the first text that count."""
    given = Texts(found or texts())
    sketches = np.concatenate([block for _, block in sign_and_sketch(batches(given.found, 1024), SCHEME, BITS)])
    verification = Verification(
        total=len(sketches),
        bits=BITS,
        texts=given,
        scheme=SCHEME,
        threshold=threshold,
        memory=1 << 20,
        spill=Files(),
        on_by_text=on_by_text,
    )
    later = np.arange(1, len(sketches), dtype=np.uint32)
    pairs = np.stack([np.zeros_like(later), later], axis=1)
    unique = unique_pairs([pairs, pairs], len(sketches), 3, memory=1 << 20, spill=Files())
    agreed = agreements(
        unique, lambda start, stop: sketches[start:stop], len(sketches), 3, memory=1 << 20, spill=Files()
    )
    counted = np.concatenate(list(verification.pairs(agreed, how)))
    return sorted(counted[:, 1].tolist()), given


def test_sketches_tell_the_similar_from_the_others() -> None:
    found, given = checked("signature")
    assert (found, given.read) == ([1, 2, 3, 4], [])


def test_texts_decide_and_those_of_hopeless_pairs_are_not_read() -> None:
    found, given = checked("exact")
    similarity = [
        len(shingles(given.found[0]) & shingles(text)) / len(shingles(given.found[0]) | shingles(text))
        for text in given.found[1:]
    ]
    assert found == [number for number, share in enumerate(similarity, start=1) if share >= 0.8]
    assert set(given.read) >= {0, *found}
    assert not {6, 7} & set(given.read)


def test_texts_are_read_only_where_sketches_leave_a_pair_open() -> None:
    found, given = checked("two_sided")
    assert found == checked("exact")[0]
    assert not {1, 6, 7} & set(given.read)
    assert given.read


@pytest.mark.parametrize("threshold", [0.998, 1.0])
def test_near_one_no_sketch_says_that_a_pair_counts(threshold: float) -> None:
    """Of texts that differ in one letter of 20,000 half have equal sketches."""
    rng = np.random.default_rng(4)
    first = "".join(rng.choice(list("abcdefgh"), 10 * LENGTH))
    at = range(100, 10 * LENGTH, LENGTH)
    changed = [first[:place] + "z" * width + first[place + width :] for place in at for width in (1, 30)]
    given = [first, *changed, first]
    expected = [
        number
        for number, text in enumerate(given[1:], start=1)
        if len(shingles(first) & shingles(text)) / len(shingles(first) | shingles(text)) >= threshold
    ]
    assert checked("two_sided", found=given, threshold=threshold)[0] == expected


def test_only_where_no_sketch_can_say_is_that_a_parameter() -> None:
    for threshold, verify, said in ((0.98, "two_sided", False), (1.0, "two_sided", True), (1.0, "exact", False)):
        dedup = {"threshold": threshold, "verify": verify, "guard": {"resemblance": None, "action": "off"}}
        values = {"dedup": dedup, "minhash": {"sketch": 1024}, "sources": []}
        found = (SURE in hooks.derived_parameters(values) for hooks in (VerifiedHooks(), RangeHooks()))
        assert tuple(found) == (said, threshold == 1.0)
        for rule, guards in (("similar", False), ("either", True)):
            of_all = ComponentsHooks().derived_parameters({**values, "dedup": {**dedup, "rule": rule}})
            assert (SURE in of_all) == (guards and threshold == 1.0)


def test_pairs_whose_texts_are_compared_are_counted() -> None:
    for how in get_args(Check):
        counts: list[int] = []
        _, given = checked(how, counts.append)
        assert sum(counts) == max(len(given.read) - 1, 0)  # All pairs have the first text.


def test_standard_errors_away_from_a_threshold() -> None:
    assert away(0.8, 1024, -5) == pytest.approx(0.8 - 5 * 0.6 / 32)
    assert away(0.3, 64, -5) == pytest.approx(0.3 - 5 * (0.91 / 64) ** 0.5)
    assert surely_above(0.8, 1024) == pytest.approx(0.8 + 3 * 0.6 / 32)
    assert away(0.01, 64, -9) == -1.0
    assert away(0.99, 64, 20) == 1.0
    assert away(1.0, 64, -5) == 1.0
    assert surely_above(0.985, 1024) == 1.0
    assert surely_above(0.99, 1024) == surely_above(1.0, 64) == float("inf")
