"""The small corpus seen through Dagster: empty, or built without Dagster once and copied."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.build.small import drive, opened, write_small
from tests.orchestration.runs import Runs


@pytest.fixture(scope="package")
def built_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("assets"))
    corpus = opened(folder)
    assert not drive(corpus, list(corpus.graph)).failed
    return folder


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Runs]:
    with dg.DagsterInstance.ephemeral() as own:
        yield Runs(write_small(tmp_path / "empty"), own)


@pytest.fixture
def built(built_corpus: Path, tmp_path: Path, instance: dg.DagsterInstance) -> Runs:
    folder = tmp_path / "built"
    shutil.copytree(built_corpus, folder)
    runs = Runs(folder, instance)
    runs.register()
    return runs


@pytest.fixture(params=["in files", "in memory"])
def runs(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Runs]:
    """An empty corpus, and an instance that stores events in batches, or one that does not."""
    (tmp_path / "home").mkdir()
    in_files = request.param == "in files"
    made = dg.DagsterInstance.local_temp(str(tmp_path / "home")) if in_files else dg.DagsterInstance.ephemeral()
    with made as instance:
        yield Runs(write_small(tmp_path / "corpus"), instance)
