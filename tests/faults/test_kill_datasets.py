"""Killed while a dataset is made, at every moment of a commit: the next build finishes what is missing."""

from pathlib import Path

import pytest

from tests.build.small import write_small
from tests.build.test_datasets import write_own
from tests.faults.kill_in_stage import killed_and_finished

CHANGES = {
    "datasets": [
        {"name": "mixed", "sequence_length": 48, "shuffle": True},
        {"name": "pairs", "mode": "summarization_vsl", "input": {"location": "own/pairs"}, "sequence_length": 48},
    ]
}
STAGES = ("pairs_examples", "pairs_tokens", "mixed_sequences", "mixed_tokens", "mixed_token_params")


@pytest.mark.slow
def test_killed_while_a_dataset_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    write_own(folder)
    killed_and_finished(write_small(folder, CHANGES), *STAGES)
