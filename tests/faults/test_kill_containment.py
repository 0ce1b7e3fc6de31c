"""Killed while documents within others, or templates, are looked for: the next build finishes what is missing."""

import shutil
from pathlib import Path

import pytest

from corpus_assets.dedup.containment.assets import STAGES as CONTAINMENT
from corpus_assets.dedup.templates.assets import STAGES as TEMPLATES
from tests.build.small import contents, drive, opened, write_small
from tests.faults.kill_in_stage import killed_and_finished


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    changes = {"dedup.rule": "either", "dedup.contained": 0.5, "dedup.template_share": 0.2}
    return write_small(tmp_path_factory.mktemp("raw"), changes)


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    drive(opened(folder))
    return contents(opened(folder))


@pytest.mark.slow
@pytest.mark.parametrize("stage", [*(stage.name for stage in (*TEMPLATES, *CONTAINMENT)), "components"])
def test_killed_while_contained_documents_are_found(
    raw: Path, whole: dict[str, str], tmp_path: Path, stage: str
) -> None:
    killed_and_finished(raw, whole, tmp_path, stage)
