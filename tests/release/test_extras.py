"""Every test that skips without an extra is among those that `make test-extras` runs with all of them."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.house import TOP

TESTS = TOP / "tests"
SKIPS = {"importorskip", "skip", "skipif"}


def listed() -> list[str]:
    """The files and folders of `OF_EXTRAS`."""
    found = re.search(r"^OF_EXTRAS := ((?:.*\\\n)*.*)$", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1].replace("\\\n", " ").split()


def skips(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that skip if an extra is missing, as their reasons say, or if something cannot be imported."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (name := ast.unparse(call.func).rpartition(".")[2]) in SKIPS:
            reason = ast.unparse(call)
            if "extra" in reason or (name == "importorskip" and "reason=" not in reason):
                yield call


def imported(tree: ast.AST) -> set[tuple[str | None, str]]:
    """The modules and names of what is imported by name."""
    return {
        (node.module, one.name) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names
    }


def arguments(tree: ast.AST) -> set[str]:
    """What functions take: names of fixtures among them."""
    return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def beside(trees: Mapping[Path, ast.Module]) -> tuple[set[tuple[str, str]], Mapping[Path, set[str]]]:
    """What skips in modules that hold no tests: functions, and fixtures by the folder whose tests may take them."""
    functions: set[tuple[str, str]] = set()
    fixtures: dict[Path, set[str]] = defaultdict(set)
    for file, tree in sorted(trees.items(), key=lambda item: len(item[0].parts)):
        for node in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            if any("fixture" in ast.unparse(one) for one in node.decorator_list):
                known = set().union(*(found for folder, found in fixtures.items() if file.is_relative_to(folder)))
                if any(skips(node)) or known & arguments(node):
                    fixtures[file.parent].add(node.name)
            elif any(skips(node)):
                functions.add((".".join(file.relative_to(TOP).with_suffix("").parts), node.name))
    return functions, fixtures


def skipping() -> Iterator[Path]:
    """Test files that skip without an extra, by themselves or by a function or fixture of a module beside them."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in TESTS.rglob("*.py")}
    tests = {file: trees.pop(file) for file in [*trees] if file.name.startswith("test_")}
    functions, fixtures = beside(trees)
    for file, tree in tests.items():
        known = set().union(*(found for folder, found in fixtures.items() if file.is_relative_to(folder)))
        if any(skips(tree)) or functions & imported(tree) or known & arguments(tree):
            yield file


def test_every_test_that_skips_without_an_extra_is_run_with_all_of_them() -> None:
    found, run = list(skipping()), listed()
    assert len(found) > 20
    left_out = {str(file.relative_to(TOP)) for file in found if not any(file.is_relative_to(TOP / one) for one in run)}
    assert left_out == set()


def test_what_is_run_with_all_extras_exists() -> None:
    assert [one for one in listed() if not (TOP / one).exists()] == []
