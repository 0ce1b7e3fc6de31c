"""From samples to the whole: what grows in a line is found exactly, and the error says how far samples scatter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.estimate.extrapolation import (
    Found,
    Guess,
    Point,
    duplicates,
    extrapolated,
    in_proportion,
    line,
    total,
)

COSTS = st.floats(0, 1000)


@given(COSTS, COSTS, st.integers(1, 50))
def test_what_grows_in_a_line_is_found_with_its_fixed_part(fixed: float, slope: float, files: int) -> None:
    points = [Point(size, fixed + slope * size) for size in (1.0, 3.0, 4.0, 5.0)]
    found = extrapolated(points[0], points[1:], 40.0, files)
    assert found.value == pytest.approx(fixed * files + slope * 40, abs=1e-6)
    assert found.fixed == pytest.approx(fixed * files, abs=1e-6)
    assert found.error == pytest.approx(0, abs=1e-6)


@given(COSTS, st.lists(COSTS, min_size=1, max_size=6))
def test_nothing_is_negative_and_a_line_meets_the_samples(small: float, large: list[float]) -> None:
    points = [Point(10.0, value) for value in large]
    fixed, slope = line(Point(2.0, small), points)
    assert min(fixed, slope) >= 0
    assert fixed + slope * 10 == pytest.approx(sum(large) / len(large))


def test_the_error_is_that_of_a_mean() -> None:
    scattered = [Point(1.0, value) for value in (8.0, 9.0, 11.0, 12.0)]
    found = in_proportion(scattered, 10.0)
    assert found.value == pytest.approx(100)
    spread = (sum((value - 100) ** 2 for value in (80, 90, 110, 120)) / 3) ** 0.5
    assert found.error == pytest.approx(3.182 * spread / 2)
    assert in_proportion(scattered[:1], 10.0).error == 0


def test_errors_of_a_sum_are_those_of_its_blocks() -> None:
    one, two = Guess(10, 1, (9.0, 11.0)), Guess(20, 2, (21.0, 19.0))
    both = total([one, two, Guess(5, 5)])
    assert (both.value, both.fixed, both.blocks, both.error) == (35, 8, (35.0, 35.0), 0.0)
    assert total([]).value == 0
    assert one.times(3).blocks == (27.0, 33.0)


def copies(part: float, share: float, size: int) -> float:
    """Share of duplicates in a sample of a corpus, of which a share of the documents are there so many times."""
    there = 1 - (1 - part) ** size
    return share * (1 - there / (size * part))


@pytest.mark.parametrize("size", [2, 3, 10, 1000])
def test_duplicates_of_the_whole_lie_within_their_bounds_and_near_what_is_expected(size: int) -> None:
    samples = [Found(part, 10**7, round(10**7 * copies(part, 0.3, size))) for part in (0.02, 0.2)]
    found = duplicates(*samples)
    real = copies(1.0, 0.3, size)
    assert found.least <= real * 1.001
    assert real <= found.most * 1.001
    assert found.expected == pytest.approx(real, rel=0.35)


def test_few_duplicates_say_little_of_how_they_grow() -> None:
    found = duplicates(Found(0.05, 700, 2), Found(0.1, 5600, 60))
    middle = found.found * 0.1**-0.5
    assert found.least < found.expected < found.most
    assert found.expected == pytest.approx(middle, rel=0.3)
    assert duplicates(Found(0.1, 100, 0), Found(0.2, 100, 0)).expected == 0
    assert duplicates(Found(1.0, 100, 5), Found(1.0, 100, 5)).expected == 0.05
