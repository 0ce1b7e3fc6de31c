"""Killed while a dataset is made, at every moment of a commit: the next build finishes what is missing."""

import shutil
from pathlib import Path

import pytest

from tests.build.small import contents, drive, opened, write_small
from tests.build.test_datasets import write_own
from tests.faults.kill_in_stage import killed_and_finished

CHANGES = {
    "datasets": [
        {"name": "mixed", "sequence_length": 48, "shuffle": True},
        {"name": "pairs", "mode": "summarization_vsl", "input": {"location": "own/pairs"}, "sequence_length": 48},
    ]
}
STAGES = ("pairs_examples", "pairs_tokens", "mixed_sequences", "mixed_tokens", "mixed_token_params")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write_own(folder)
    return write_small(folder, CHANGES)


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    drive(opened(folder))
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed_while_a_dataset_is_made(raw: Path, whole: dict[str, str], tmp_path: Path, stage: str) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
