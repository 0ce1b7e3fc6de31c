"""The page about frames says what works."""

import re
from pathlib import Path
from typing import Any

import pytest

from docs.generate import FOLDER


def test_the_page_runs(built_once: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(built_once)
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "frames.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    documents, scored = names["documents"], names["scored"]
    assert scored["quality__char_length_v1__length"].tolist() == documents.text.str.len().tolist()
    records = names["known"]
    assert names["count"] == records[records.asset == "train"].rows_out.sum() > 0
    assert f"longest document: {names['longest']} bytes" in capsys.readouterr().out
