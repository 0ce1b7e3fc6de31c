"""The shared small corpora, and a server of S3."""

from collections.abc import Iterator

import pytest

from tests.build.conftest import built_once, work
from tests.object_store import ENVIRONMENT, Server, seaweedfs, weed

__all__ = ["built_once", "server", "work"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if weed() is None:
        pytest.skip("needs the extra s3-server")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as running:
            yield running
