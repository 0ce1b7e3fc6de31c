"""Imports run one way: resources, partitions, a stage's algorithm, its assets, the definitions."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
STAGES = sorted(path.parent.name for path in TOP.glob("corpus_assets/*/assets.py"))
FACES = {"assets.py", "checks.py"}
WRITES_FILES = {"raw/sample.py", "raw/sample_sources.py"}
WITHOUT_DAGSTER = ("cli", "config", "corpus", "show", "stages", "verify")
ALLOWED = {"normalize/assets.py": {"corpus_assets.raw.readers", "corpus_assets.raw.kept"}}


def imported(file: Path, *, top_level: bool = False) -> set[str]:
    """Full names of imported modules, those only for type checkers left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {name for node in _statements(tree, top_level) for name in _names(node)}


def _statements(node: ast.AST, top_level: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if top_level and isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            continue
        yield child
        yield from _statements(child, top_level)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def modules(pattern: str) -> list[Path]:
    found = sorted(path for path in TOP.glob(pattern) if path.name != "__init__.py")
    assert found
    return found


def label(file: Path) -> str:
    return str(file.relative_to(TOP))


@pytest.mark.parametrize("file", modules("resources/*.py"), ids=label)
def test_resources_know_nothing_above_them(file: Path) -> None:
    assert not roots(imported(file)) & {"corpus_assets", "partitions", "tests", "benchmarks"}
    if file.name != "io_managers.py":
        assert "dagster" not in roots(imported(file))


@pytest.mark.parametrize("file", modules("partitions/*.py"), ids=label)
def test_partitions_know_resources_only(file: Path) -> None:
    assert not roots(imported(file)) & {"corpus_assets", "tests", "benchmarks"}


@pytest.mark.parametrize("file", modules("corpus_assets/*/**/*.py"), ids=label)
def test_a_stage_knows_its_own_modules_and_resources(file: Path) -> None:
    stage, *_ = file.relative_to(TOP / "corpus_assets").parts
    place = str(file.relative_to(TOP / "corpus_assets"))
    names = imported(file)
    others = {name for name in names if name.startswith("corpus_assets.")}
    others = {name for name in others if not name.startswith(f"corpus_assets.{stage}.")}
    others = {name for name in others if name != f"corpus_assets.{stage}"}
    if place == f"{stage}/checks.py":
        assert not {name for name in others if name.split(".")[1] in STAGES}
        return
    for allowed in ALLOWED.get(place, ()):
        others = {name for name in others if not name.startswith(allowed)}
    others -= {"corpus_assets.raw"} if place in ALLOWED else set()
    assert not others
    assert "dagster" not in roots(names)
    if place.partition("/")[2] not in FACES and place not in WRITES_FILES:
        assert not roots(names) & {"pathlib", "os", "shutil", "tempfile", "glob"}


@pytest.mark.parametrize("name", WITHOUT_DAGSTER)
def test_what_plans_and_verifies_knows_nothing_of_dagster(name: str) -> None:
    assert "dagster" not in roots(imported(TOP / f"corpus_assets/{name}.py"))


def test_a_build_loads_dagster_only_when_there_is_something_to_run() -> None:
    assert "dagster" not in roots(imported(TOP / "corpus_assets/build.py", top_level=True))


def test_the_command_loads_without_dagster() -> None:
    code = "import sys, corpus_assets.cli; sys.exit('dagster' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=TOP, check=True)
