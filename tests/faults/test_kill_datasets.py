"""Killed while a dataset is made, at every moment of a commit: the next build finishes what is missing."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpus_assets.verify import verify
from tests.build.small import contents, drive, live_records, opened, write_small
from tests.build.test_datasets import write_own
from tests.faults.kill_in_stage import MOMENTS

ROOT = Path(__file__).resolve().parents[2]
CHANGES = {
    "datasets": [
        {"name": "mixed", "sequence_length": 48, "shuffle": True},
        {"name": "pairs", "mode": "summarization_vsl", "input": {"location": "own/pairs"}, "sequence_length": 48},
    ]
}
STAGES = ("examples/pairs", "tokens/pairs", "sequences/mixed", "tokens/mixed", "data_params/mixed")


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
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("stage", STAGES)
def test_killed_while_a_dataset_is_made(
    raw: Path, whole: dict[str, str], tmp_path: Path, stage: str, moment: str
) -> None:
    shutil.copytree(raw, tmp_path, dirs_exist_ok=True)
    command = [sys.executable, "-m", "tests.faults.kill_in_stage", str(tmp_path), stage, moment]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    killed = opened(tmp_path)
    assert verify(killed, deep=True).bad == []
    committed = live_records(killed).keys()
    assert not {key for key in committed if key[0] == stage}
    built = drive(opened(tmp_path))
    assert not built.failed
    assert not built.recomputed & committed
    assert contents(opened(tmp_path)) == whole
