"""Killed while a filter is learned and used: the next build finishes what is missing, and learns the same."""

from pathlib import Path

import pytest

from tests.classifiers.test_stages import write
from tests.faults.kill_in_stage import killed_and_finished


@pytest.mark.slow
def test_killed_while_a_filter_is_learned(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    write(folder, filter={"rules": {"quality.edu.score": {"min": 0.5}}})
    killed_and_finished(folder, "edu_labelled", "edu_classifier", "quality_attributes")
