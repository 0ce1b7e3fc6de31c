"""The page about reading says what works."""

import re
from pathlib import Path
from typing import Any

import pytest

from docs.generate import FOLDER
from tests.export.exported import exported
from tests.reading.fake_torch import use_fake_torch


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    exported(tmp_path, {"name": "megatron", "format": "megatron"})
    use_fake_torch(monkeypatch)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "reading.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert names["inputs"].shape == names["labels"].shape == (512, 2048)
    later = names["later"].state_dict()
    assert later["epoch"] * len(names["windows"]) + later["samples"] == 4 * 512
    assert names["state"]["samples"] == 8
    assert names["batches"].state_dict()["samples"] == 8
    assert [phase.windows for phase in names["batches"].phases] == [31_250, 10_937]
    assert "documents," in capsys.readouterr().out
