"""Killed inside every stage of deduplication, at every moment of a commit: the next build finishes what is missing."""

from pathlib import Path

import pytest

from corpus_assets.dedup.assets import STAGES
from tests.build.small import write_small
from tests.faults.kill_in_stage import killed_and_finished


@pytest.mark.slow
def test_killed_in_each_stage(tmp_path: Path) -> None:
    killed_and_finished(write_small(tmp_path / "killed"), *(stage.name for stage in STAGES))
