"""What all pages have in common, those of the examples too: whole tables, links, commands and words of the program."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from corpus_assets.cli.main import app
from docs.generate import FOLDER
from tests.house import sources

ROOT = FOLDER.parent
EXAMPLES = ROOT / "examples"
ALL_PAGES = sorted([*ROOT.glob("*.md"), *FOLDER.rglob("*.md"), *EXAMPLES.rglob("*.md"), *ROOT.glob(".github/**/*.md")])


def options(command: Any) -> set[str]:
    """The options of a command, and of those below it."""
    own = {one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)}
    return own.union({"--help"}, *map(options, getattr(command, "commands", {}).values()))


COMMANDS = {name: options(command) for name, command in typer.main.get_group(app).commands.items()}
every_page = pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)


def links_of(page: Path) -> list[tuple[str, str]]:
    """Links to pages and files of the project: the path, and the heading; one of both may be empty."""
    without_code = re.sub(r"`[^`]+`", "code", prose_of(page))
    return re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]+))?\)", without_code)


def inline_code(page: Path) -> list[str]:
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose_of(page))]


def code_of(page: Path) -> list[str]:
    """Lines of the blocks in which commands stand, and code in sentences."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
    lines = [line.strip() for kind, block in blocks if kind in {"", "sh", "text"} for line in block.splitlines()]
    return [*lines, *inline_code(page)]


def commands_of(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Every `corpus COMMAND` of a page, in blocks and in sentences, and its options."""
    for line in code_of(page):
        if found := re.match(r"(?:\S*/)?corpus ([a-z][a-z-]*)(.*)$", line):
            given = re.split(r"[|>#]|&&", found[2])[0]
            yield found[1], re.findall(r"(?<!\S)--?[a-z][a-z-]*", given)


def anchor(heading: str) -> str:
    """What the site and GitHub call a heading."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", shown).strip().lower())


def cells(line: str) -> int:
    """How many cells a row of a table has; a bar that is part of a cell has a backslash before it."""
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def test_pages_of_the_examples_are_among_them() -> None:
    assert {file.parent for file in EXAMPLES.glob("*/README.md")} <= {page.parent for page in ALL_PAGES}
    assert sum(1 for page in ALL_PAGES for _ in commands_of(page)) > 200


def test_pages_of_the_site_differ_in_more_than_case() -> None:
    """Pages of the top folder and of `docs` are in one folder of the site; some disks have one file for both cases."""
    names = [page.relative_to(FOLDER).as_posix() for page in FOLDER.rglob("*.md")]
    names += [page.name for page in ROOT.glob("*.md")]
    assert len({name.casefold() for name in names}) == len(names)


@every_page
def test_all_rows_of_a_table_have_as_many_cells_as_its_head(page: Path) -> None:
    text = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    for table in re.findall(r"^\|.*\n\|[-:| ]+\|\n(?:.+\n?)*", text, re.MULTILINE):
        rows = table.splitlines()
        assert {line: cells(line) for line in rows} == dict.fromkeys(rows, cells(rows[0]))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for target, place in links_of(page):
        other = page.parent / target if target else page
        assert other.exists(), target
        if place:
            assert place in map(anchor, re.findall(r"^#+ (.*)$", prose_of(other), re.MULTILINE)), target


@every_page
def test_commands_and_their_options_are_those_of_the_program(page: Path) -> None:
    for command, given in commands_of(page):
        assert command in COMMANDS, f"corpus {command}"
        assert {*given} <= COMMANDS[command], f"corpus {command} {given}"


@pytest.fixture(scope="module")
def words_of_the_program() -> set[str]:
    return {word for file in sources().values() for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", sorted(EXAMPLES.rglob("*.md")), ids=lambda page: page.parent.name)
def test_names_in_an_example_are_those_of_the_program_or_of_its_files(
    page: Path, words_of_the_program: set[str]
) -> None:
    """Assets, keys, taggers, reasons: what is written like a name, with `_` or a dot in it."""
    files = [file for file in page.parent.rglob("*") if file.suffix in {".yaml", ".jsonl", ".ipynb"}]
    known = words_of_the_program | {word for file in files for word in re.findall(r"\w+", text_of(file))}
    names = [name for code in inline_code(page) for name in re.findall(r"(?<![\w/])[a-z]\w*(?:[._]\w+)+(?!/)", code)]
    unknown = [name for name in names if not (EXAMPLES / name).exists() and not (page.parent / name).exists()]
    assert [name for name in unknown if not {*name.split(".")} <= known] == []


def test_make_targets_in_the_docs_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    found = (re.match(r"make ([a-z-]+)", line) for page in ALL_PAGES for line in code_of(page))
    named = {one[1] for one in found if one}
    assert "demo" in named and named <= targets
