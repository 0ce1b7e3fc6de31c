"""What a job may use of `engine.memory`: its share, after what every worker takes before it holds data."""

import pytest

from resources.engine.memory import LEAST_SHARE, OWN_MEMORY, most_of, share_of

GIB = 1 << 30


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_shares_and_what_workers_take_before_are_all_of_it(workers: int) -> None:
    memory = workers * GIB
    assert workers * (share_of(memory, workers) + OWN_MEMORY) == memory == most_of(memory, workers)


def test_a_job_has_something_where_nothing_is_left_and_the_sum_says_so() -> None:
    assert share_of(GIB, 8) == LEAST_SHARE
    assert most_of(GIB, 8) == 8 * (LEAST_SHARE + OWN_MEMORY) > GIB
    assert share_of(16 << 20, 2) == 8 << 20
    assert share_of(GIB, 0) == share_of(GIB, 1) == GIB - OWN_MEMORY
