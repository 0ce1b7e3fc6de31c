"""Stores that keep the same promises: a folder, and buckets of two servers."""

from pathlib import Path

import pytest

from resources.storage.file_cache import FileCache
from resources.storage.interface import Storage
from resources.storage.local.store import LocalStorage
from resources.storage.s3.address import Address
from resources.storage.s3.store import S3Storage
from tests.object_store import Server


@pytest.fixture(params=["local", "simulation", pytest.param("real_server", marks=pytest.mark.slow)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "local":
        return LocalStorage(tmp_path / "store", sync=False)
    return in_bucket(request.getfixturevalue(request.param), tmp_path)


@pytest.fixture
def bucket(simulation: Server, tmp_path: Path) -> S3Storage:
    return in_bucket(simulation, tmp_path)


def in_bucket(server: Server, folder: Path) -> S3Storage:
    """A store of its own in the bucket of a server."""
    address = Address(server.bucket, f"tests/{folder.parent.name}-{folder.name}")
    return S3Storage(address, server.settings, FileCache(folder / "cache", 1 << 30))
