"""The sensor keeps up while raw files come, change and go, and leaves nothing behind (`benchmarks/soak.py`)."""

import random

import pytest

from benchmarks.soak import faults, measure

pytestmark = pytest.mark.slow

MINUTES, TICK_SECONDS = 1.0, 10


def test_a_minute_of_changes_with_the_sensor_on() -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    found = measure(MINUTES, TICK_SECONDS, seed)
    assert found["changes"] >= 10 and found["runs"] >= 2, found
    assert faults(found) == [], found


def test_faults_are_named() -> None:
    good = dict.fromkeys(_NAMES, 0)
    assert faults(good) == []
    assert faults({**good, "ticks_behind": 1, "memory_mb": 99.0}) == []
    assert faults({**good, "ticks_behind": 2, "differing": 3}) == ["differing is 3", "ticks_behind is 2"]


_NAMES = (
    "failed_ticks",
    "computed_twice",
    "processes_left",
    "left_after_end",
    "not_fresh",
    "differing",
    "ticks_behind",
    "memory_mb",
)
