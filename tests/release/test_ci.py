"""The package is built and tried for every change and before every release."""

import re
from fnmatch import fnmatch

import pytest

from tests.house import TOP
from tests.release.installing import tracked_files


def text_of(name: str) -> str:
    return (TOP / name).read_text(encoding="utf-8")


def test_a_release_and_every_change_build_the_package_and_run_its_tests() -> None:
    assert {"make dist", "make test"} <= {*text_of(".ci/run").splitlines()}
    steps = re.findall(r"^ +- run: (.+)$", text_of(".github/workflows/test.yml"), re.MULTILINE)
    assert {"make dist", ".venv/bin/python -m pytest tests/release"} <= {*steps}


def test_the_environment_of_the_tests_can_build_it() -> None:
    """`test_dist` is skipped where `build` is missing, so the lock has it."""
    assert re.search(r"^build==", text_of("requirements.lock"), re.MULTILINE)
    assert "\ndist: $(READY)" in text_of("Makefile") and "$(BIN)/python -m build\n" in text_of("Makefile")


def test_no_folder_of_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """A folder that pytest does not look into, as it is called `build`, is missed by nobody."""
    patterns = pytestconfig.getini("norecursedirs")
    folders = {part for path in (TOP / "tests").rglob("test_*.py") for part in path.relative_to(TOP).parts[:-1]}
    assert [name for name in folders for pattern in patterns if fnmatch(name, pattern)] == []


def test_no_file_lies_at_the_top_by_chance() -> None:
    """What a command wrote there by mistake would be in every sdist."""
    if not (TOP / ".git").exists():
        pytest.skip("only a clone knows which files belong to the project")
    names = {name for name in tracked_files() if "/" not in name and not name.startswith(".")}
    assert {name for name in names if not name.endswith((".md", ".yaml", ".yml", ".toml", ".lock"))} == {
        "LICENSE",
        "Makefile",
        "hatch_build.py",
    }
