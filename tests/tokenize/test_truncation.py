"""Cutting conversations of pairs that are too long."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.options import PairTruncation
from corpus_assets.tokenize.modes.truncation import Cut, Frame, cut_pairs

RULES: tuple[PairTruncation, ...] = ("prompt_start", "prompt_end", "completion_end", "oldest_turns")
SIZES = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=6)
FRAMES = st.builds(Frame, opening=st.integers(0, 1), every=st.integers(0, 3), end=st.integers(0, 1))


def cut(pairs: list[tuple[int, int]], frame: Frame, capacity: int, rule: PairTruncation) -> Cut | None:
    prompts, completions = np.array(pairs, np.int64).T
    return cut_pairs(prompts, completions, frame, capacity, rule)


def size(found: Cut, frame: Frame) -> int:
    texts = int(np.diff(found.prompts).sum() + np.diff(found.completions).sum())
    return frame.opening + texts + frame.every * len(found.ends) + frame.end * int(found.ends.sum())


FRAME = Frame(opening=1, every=2, end=1)


def test_prompt_start_takes_the_earliest_prompts_first() -> None:
    found = cut([(5, 4), (6, 4)], FRAME, 20, "prompt_start")  # 1 + 12 + 13 ids
    assert found is not None
    np.testing.assert_array_equal(found.prompts, [[4, 5], [2, 6]])
    np.testing.assert_array_equal(found.completions, [[0, 4], [0, 4]])
    assert found.ends.all()


def test_prompt_end_keeps_the_start() -> None:
    found = cut([(5, 4)], FRAME, 10, "prompt_end")
    assert found is not None
    np.testing.assert_array_equal(found.prompts, [[0, 2]])


def test_a_prompt_keeps_one_id() -> None:
    assert cut([(5, 4)], FRAME, 9, "prompt_end") is not None
    assert cut([(5, 4)], FRAME, 8, "prompt_end") is None


def test_a_cut_completion_has_no_end() -> None:
    found = cut([(5, 4)], FRAME, 10, "completion_end")
    assert found is not None
    np.testing.assert_array_equal(found.completions, [[0, 2]])
    assert not found.ends[0]
    assert cut([(5, 4)], FRAME, 8, "completion_end") is None


def test_pairs_beyond_the_capacity_are_left_out() -> None:
    found = cut([(2, 2), (9, 5), (1, 1)], FRAME, 15, "completion_end")
    assert found is not None  # 8 ids, then a prompt that leaves no room for its completion
    np.testing.assert_array_equal(found.prompts, [[0, 2]])
    assert found.ends.all()


def test_oldest_turns_leaves_out_as_few_as_possible() -> None:
    found = cut([(9, 9), (2, 2), (3, 3)], FRAME, 17, "oldest_turns")
    assert found is not None
    assert found.first == 1
    np.testing.assert_array_equal(found.prompts, [[0, 2], [0, 3]])
    assert cut([(2, 2), (9, 9)], FRAME, 17, "oldest_turns") is None


@pytest.mark.parametrize("rule", RULES)
@given(pairs=SIZES, frame=FRAMES, capacity=st.integers(2, 60))
def test_what_is_kept_fits_and_is_a_part(
    rule: PairTruncation, pairs: list[tuple[int, int]], frame: Frame, capacity: int
) -> None:
    whole = frame.opening + sum(p + c + frame.every + frame.end for p, c in pairs)
    if whole <= capacity:
        return
    found = cut(pairs, frame, capacity, rule)
    assert cut(pairs, frame, capacity, "discard") is None
    if found is None:
        return
    assert 0 < size(found, frame) <= capacity
    kept = pairs[found.first : found.first + len(found.ends)]
    assert len(kept) == len(found.ends) == len(found.prompts) == len(found.completions)
    for spans, limits in ((found.prompts, [p for p, _ in kept]), (found.completions, [c for _, c in kept])):
        assert (spans[:, 0] >= 0).all()
        assert (spans[:, 0] < spans[:, 1]).all()
        assert (spans[:, 1] <= limits).all()
    if rule in ("prompt_start", "prompt_end"):
        assert size(found, frame) == capacity  # no id more than needed is cut
