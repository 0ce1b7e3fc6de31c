"""Killed while token streams, mixtures, files for trainers or manifests are made: the next build finishes them."""

import shutil
from pathlib import Path

import pytest

from corpus_assets.config.datasets.exports import EXPORTS
from tests.build.small import contents, drive, opened, write_small
from tests.export.test_every_format import dataset
from tests.faults.kill_in_stage import killed_and_finished

STREAM = "decontaminated_train_token_stream"
MIXED = dataset("megatron", weights={"shares": {"books": 1, "web": 2}})


@pytest.mark.slow
@pytest.mark.parametrize("stage", [STREAM, "megatron_mixture", "megatron_tokens", "megatron_manifest"])
def test_killed_while_a_mixture_is_exported(tmp_path: Path, stage: str) -> None:
    raw, whole = write_small(tmp_path / "raw", {"datasets": [MIXED]}), tmp_path / "whole"
    shutil.copytree(raw, whole)
    drive(opened(whole))
    killed_and_finished(raw, contents(opened(whole)), tmp_path / "killed", stage)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPORTS.keys() - {"megatron"}))
def test_killed_while_files_are_written(tmp_path: Path, name: str) -> None:
    raw, whole = write_small(tmp_path / "raw", {"datasets": [dataset(name)]}), tmp_path / "whole"
    shutil.copytree(raw, whole)
    drive(opened(whole))
    killed_and_finished(raw, contents(opened(whole)), tmp_path / "killed", f"{name}_tokens")
