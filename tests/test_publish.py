"""The page of benchmarks: a new section replaces its own text and no other."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from benchmarks import publish


def fields(section: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(section) if name}


def stand_in(name: str, found: set[str], turns: Iterator[int], quick: bool) -> dict[str, Any]:
    """Figures that are others each time."""
    return {field: f"{name} {next(turns)}" for field in found}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page in a folder of its own; the figures are stand-ins."""
    page = tmp_path / "benchmarks.md"
    monkeypatch.setattr(publish, "TARGET", page)
    turns = iter(range(1000))
    for name, section in zip(publish.MEASURES, publish.sections(publish.PAGE)[1:], strict=True):
        monkeypatch.setitem(publish.MEASURES, name, partial(stand_in, name, fields(section), turns))
    return page


def test_a_section_made_anew_replaces_its_own_text_alone(target: Path) -> None:
    publish._published(list(publish.MEASURES), quick=False)
    before = publish.sections(target.read_text())
    publish._published(["driver"], quick=True)
    after = publish.sections(target.read_text())
    changed = [new for old, new in zip(before, after, strict=True) if old.strip() != new.strip()]
    assert [part.partition("\n")[0] for part in changed] == ["## The driver"]
    assert "--quick" in changed[0]


def test_sections_are_named_by_the_scripts_they_tell_of() -> None:
    for name, section in zip(publish.MEASURES, publish.sections(publish.PAGE)[1:], strict=True):
        assert f"`python -m benchmarks.{name}`" in section
