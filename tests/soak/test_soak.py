"""The sensor keeps up while raw files come, change and go, and leaves nothing behind."""

import random

import pytest

from tests.soak.soaking import faults, measure

pytestmark = pytest.mark.slow

SECONDS, TICK_SECONDS = 60.0, 10


def test_a_minute_of_changes_with_the_sensor_on() -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    found = measure(SECONDS, TICK_SECONDS, seed, raw_files=True)
    assert found["operations"] >= 10 and found["runs"] >= 2, found
    assert faults(found) == [], found
