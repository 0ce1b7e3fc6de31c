"""Batches: small jobs together, long and unknown ones alone, never the whole queue."""

from dataclasses import replace
from pathlib import Path

from resources.engine.pace import IN_HAND, Pace
from tests.resources.engine.test_local import jobs


def test_jobs_of_unknown_length_are_given_alone(tmp_path: Path) -> None:
    queue = iter(jobs(tmp_path, 10))
    assert [len(batch) for batch in Pace().batches(queue, 4)] == [1, 1, 1, 1]
    assert len(list(queue)) == 6


def test_small_jobs_are_spread_and_a_batch_ends_with_the_seconds_in_hand(tmp_path: Path) -> None:
    given = jobs(tmp_path, 3000)
    pace = Pace()
    pace.note(given[0], 0.0)
    assert [len(batch) for batch in pace.batches(iter(given[:5]), 2)] == [3, 2]
    queue = iter(given)
    batches = pace.batches(queue, 2)
    assert [len(batch) for batch in batches] == [250, 250]
    assert len(list(queue)) == 2500
    pace.note(given[0], 10 * IN_HAND)
    assert [len(batch) for batch in pace.batches(iter(given), 2)] == [1, 1]


def test_each_stage_has_a_pace_of_its_own(tmp_path: Path) -> None:
    job = jobs(tmp_path, 1)[0]
    pace = Pace()
    pace.note(job, 0.01)
    assert pace.expected(job) == 0.01
    assert pace.expected(replace(job, stage=replace(job.stage, name="b"))) == IN_HAND
    pace.note(job, 0.11)
    assert 0.01 < pace.expected(job) < 0.11
    assert pace.batches(iter(()), 3) == []
