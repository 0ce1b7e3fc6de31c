"""A small corpus with papers, built once, and the stand-in of the hub that it is published on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources import hub_client
from resources.raw_places import connection, hub, remote
from tests.build.small import CONFIG, Work, drive, opened, write_config, write_small
from tests.hub_server import Hub, hub_of

CARD = {"licence": "CC-BY-4.0", "languages": ["en", "de"], "title": "Small texts"}
DATASETS = [
    *CONFIG["datasets"],
    {"name": "olmo", "format": "olmo", "input": "train"},
    {"name": "texts", "format": "text", "input": "train", "files": "parquet"},
]


@pytest.fixture(scope="session")
def built_with_card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("published"))
    write_config(folder, {"card": CARD, "datasets": DATASETS})
    corpus = opened(folder)
    assert not drive(corpus, list(corpus.graph)).failed
    return folder


@pytest.fixture
def corpus_folder(built_with_card: Path, tmp_path: Path) -> Work:
    folder = tmp_path / "work"
    shutil.copytree(built_with_card, folder)
    return Work(folder)


@pytest.fixture
def empty_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub without the repository."""
    from huggingface_hub import constants

    monkeypatch.setattr(hub_client, "PAUSES", (0.001, 0.001))
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    hub._tree.cache_clear()
    (tmp_path / "hub").mkdir()
    with hub_of(tmp_path / "hub", monkeypatch) as made:
        yield made


@pytest.fixture
def stand_in(empty_hub: Hub) -> Hub:
    """A hub with the repository, which holds what the hub puts into a new one."""
    empty_hub.commit({".gitattributes": b"*.parquet filter=lfs\n"})
    return empty_hub
