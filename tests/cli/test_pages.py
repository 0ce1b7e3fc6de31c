"""`corpus docs` prints the pages, and every page that the program names is one of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli import pages
from corpus_assets.cli.main import app
from docs.generate import FOLDER
from resources.errors import ConfigError
from tests.house import TOP, sources

NAMED = re.compile(r"corpus docs ([\w/.-]*\w)|\b(docs/[\w/-]+\.md)")


def texts(file: Path) -> Iterator[tuple[str, bool]]:
    """The texts of a module, and whether each is a docstring."""
    nodes = list(ast.walk(ast.parse(file.read_bytes())))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, id(node) in docstrings


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["docs", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_all_pages_of_the_project_are_listed_with_their_titles() -> None:
    *lines, last = printed().splitlines()
    listed = dict(re.split(r"  +", line, maxsplit=1) for line in lines)
    assert listed["stores"] == "Stores" and listed["examples/code"] == "Code with fill-in-the-middle"
    assert {"README", "CHANGELOG", "formats", "formats/dolma", "trainers/llm.c", "examples"} < listed.keys()
    assert len(listed) == len([*TOP.glob("*.md"), *FOLDER.rglob("*.md")]) + len(list(TOP.glob("examples/**/README.md")))
    assert last == f"They are in {TOP}"


@pytest.mark.parametrize("name", ["stores", "stores.md", "docs/stores.md"])
def test_a_page_is_printed_as_it_is_written(name: str) -> None:
    assert printed(name) == (FOLDER / "stores.md").read_text(encoding="utf-8")


def test_a_page_that_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no page named 'store' \(did you mean 'stores'\?\); `corpus docs` lists"):
        pages.run("store")


def test_every_page_that_the_program_names_is_there() -> None:
    named = {"".join(found) for file in sources().values() for text, _ in texts(file) for found in NAMED.findall(text)}
    assert {"stores", "docs/formats/dolma.md"} <= named
    assert {name for name in named if pages.page_name(name) not in pages.pages()} == set()


def test_messages_name_the_command_that_prints_a_page() -> None:
    """An installation has no folder `docs`. Descriptions of keys are read on a page, not in a message."""
    said = {
        name: text
        for name, file in sources().items()
        if not name.startswith("corpus_assets.config.")
        for text, is_docstring in texts(file)
        if not is_docstring and re.search(r"\bdocs/[\w/-]+\.md", text)
    }
    assert said == {}
