"""Extractors of tests."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus_assets.raw.web.extractors import extractor


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the module `own_pages`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(code: str) -> None:
        (tmp_path / "own_pages.py").write_text(code, encoding="utf-8")
        sys.modules.pop("own_pages", None)
        extractor.cache_clear()

    return write
