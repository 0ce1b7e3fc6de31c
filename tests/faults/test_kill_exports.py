"""Killed while token streams, mixtures, files for trainers or manifests are made: the next build finishes them."""

from pathlib import Path

import pytest

from tests.build.small import write_small
from tests.export.test_every_format import FORMATS, dataset
from tests.faults.kill_in_stage import killed_and_finished

STREAM = "decontaminated_train_token_stream"
MIXED = dataset("megatron", weights={"shares": {"books": 1, "web": 2}})


@pytest.mark.slow
def test_killed_while_a_mixture_is_exported(tmp_path: Path) -> None:
    stages = STREAM, "megatron_mixture", "megatron_tokens", "megatron_manifest"
    killed_and_finished(write_small(tmp_path / "killed", {"datasets": [MIXED]}), *stages)


@pytest.mark.slow
def test_killed_while_files_of_each_format_are_written(tmp_path: Path) -> None:
    names = [name for name in FORMATS if name != "megatron"]
    folder = write_small(tmp_path / "killed", {"datasets": [*map(dataset, names)]})
    killed_and_finished(folder, *(f"{name}_tokens" for name in names))
