"""A small corpus with a report and datasets of every shape, whose frames are asked for."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.report.conftest import build, write_hostile

DATASETS = [
    {"name": "train", "input": "decontaminated_train", "sequence_length": 64, "shuffle": True},
    {"name": "validation", "input": "validation", "sequence_length": 64},
    {"name": "megatron", "format": "megatron", "input": "decontaminated_train"},
]


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("framed")
    write_hostile(folder)
    config = yaml.safe_load((folder / "corpus.yaml").read_text())
    (folder / "corpus.yaml").write_text(yaml.safe_dump({**config, "datasets": DATASETS}))
    build(folder)
    return folder


@pytest.fixture
def folder(built_once: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "work"
    shutil.copytree(built_once, copy)
    return copy
