"""Pages and docstrings are in plain English, and a long page answers the common case first."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_pages import ROOT, every_page, text_of

DIALECT = re.compile(
    r"\b(anew|stead|to be had|go(es)? (its|their) way|heed(ed|s)?|for want of|dearest|by turns|whence|thence|whereof"
    r"|thereof|thought dead)\b",
    re.IGNORECASE,
)
"""Words that a reader has to look at twice; each has a plain one: again, instead, available, because of ..."""

LONG = 1500
"""Words from which on a page needs a first screen."""

FIRST_LINES = 12
"""Lines that a reader sees at a glance."""

CODE = ("corpus_assets", "resources", "partitions", "benchmarks", "docs", "tests")


def dialect(text: str) -> list[str]:
    """The words of a text that nobody should have to look at twice, with what stands around them."""
    return [text[max(0, one.start() - 30) : one.end() + 30] for one in DIALECT.finditer(text)]


def docstrings(file: Path) -> Iterator[str]:
    """What a module says of itself: of its functions and classes, and under its constants and fields."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def first_screen(page: str) -> list[str]:
    """The lines before the first section."""
    return re.split(r"^## ", page, maxsplit=1, flags=re.MULTILINE)[0].strip().splitlines()


def test_dialect_is_found_in_a_page_and_in_a_docstring(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('"""Begins."""\n\ndef again():\n    """Made anew."""\n\nLIMIT = 1\n"""Taken in its stead."""\n')
    assert [one for text in docstrings(file) for one in dialect(text)] == ["Taken in its stead.", "Made anew."]
    assert dialect("It instead heads the steady list; a new one.") == []


@every_page
def test_a_page_is_in_plain_english(page: Path) -> None:
    assert dialect(" ".join(text_of(page).split())) == []


@pytest.mark.parametrize("folder", CODE)
def test_docstrings_are_in_plain_english(folder: str) -> None:
    texts = {file: dialect(" ".join(" ".join(docstrings(file)).split())) for file in (ROOT / folder).rglob("*.py")}
    assert {str(file.relative_to(ROOT)): found for file, found in texts.items() if found} == {}


@every_page
def test_a_long_page_begins_with_what_most_readers_need(page: Path) -> None:
    """A command, a piece of configuration or a table begins within the first lines, before the first section."""
    text = text_of(page)
    if len(text.split()) > LONG:
        assert any(line.startswith(("```", "|")) for line in first_screen(text)[:FIRST_LINES])
