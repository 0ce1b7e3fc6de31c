"""Corpora that tests of a build share: built once per module, copied for every test that changes something."""

import shutil
from pathlib import Path

import pytest

from tests.build.small import Work, drive, opened, write_small


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("small"))
    corpus = opened(folder)
    assert not drive(corpus, list(corpus.graph)).failed
    return folder


@pytest.fixture
def work(built_once: Path, tmp_path: Path) -> Work:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    return Work(folder)
