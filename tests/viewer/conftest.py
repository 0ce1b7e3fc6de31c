"""A small built corpus and its viewer, asked without a network."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from tests.build.conftest import built_once

__all__ = ["built_once"]


@pytest.fixture(scope="session")
def pages(built_once: Path) -> TestClient:
    return TestClient(standing_alone(built_once / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
