"""Killed while a filter is learned and used: the next build finishes what is missing, and learns the same."""

import shutil
from pathlib import Path

import pytest

from tests.build.small import contents, drive, opened
from tests.classifiers.test_stages import write
from tests.faults.kill_in_stage import killed_and_finished


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write(folder, filter={"rules": {"quality.edu.score": {"min": 0.5}}})
    return folder


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    drive(opened(folder))
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["edu_labelled", "edu_classifier", "quality_attributes"])
def test_killed_while_a_filter_is_learned(raw: Path, whole: dict[str, str], tmp_path: Path, stage: str) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
