"""Members that lie side by side are read at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from resources.stage import partition
from resources.stage.partition import _neighbours


@given(st.lists(st.tuples(st.integers(1, 3 << 20), st.booleans()), max_size=30))
def test_runs_hold_every_member_once_without_a_gap_and_are_bounded(members: list[tuple[int, bool]]) -> None:
    places = np.concatenate([[0], np.cumsum([size for size, _ in members], dtype=np.int64)])
    chosen = [number for number, (_, wanted) in enumerate(members) if wanted]
    runs = list(_neighbours(chosen, places))
    assert [number for run in runs for number in run] == chosen
    for run in runs:
        assert run == list(range(run[0], run[-1] + 1))
        assert len(run) == 1 or places[run[-1] + 1] - places[run[0]] <= partition._MEMBERS_BYTES
