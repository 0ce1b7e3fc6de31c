"""Killed inside every stage of deduplication, at every moment of a commit: the next build finishes what is missing."""

import shutil
from pathlib import Path

import pytest

from corpus_assets.dedup.assets import STAGES
from tests.build.small import contents, drive, opened, write_small
from tests.faults.kill_in_stage import killed_and_finished


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("raw"))


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    drive(opened(folder))
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_killed_in_a_stage(raw: Path, whole: dict[str, str], tmp_path: Path, stage: str) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
