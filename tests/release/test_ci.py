"""The package is built and tried for every change and before every release."""

import os
import re
import select
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.house import TOP
from tests.release.installing import tracked_files


def text_of(name: str) -> str:
    return (TOP / name).read_text(encoding="utf-8")


def test_a_release_and_every_change_build_the_package_and_run_its_tests() -> None:
    assert {"make dist", "make test"} <= {*text_of(".ci/run").splitlines()}
    steps = re.findall(r"^ +- run: (.+)$", text_of(".github/workflows/test.yml"), re.MULTILINE)
    assert {"make dist", ".venv/bin/python -m pytest tests/release"} <= {*steps}


STAND_IN = """#!/bin/bash
case "$*" in
    "$BESIDE") echo >"$BEGUN"; sleep 600; exit;;
    "$FAILING") read -r <"$BEGUN"; exit 7;;
    -c*) [ -t 0 ] || cat >/dev/null; echo digest;;
esac
"""
"""A program of which one call goes on for long, and another fails when that has begun."""


@pytest.mark.parametrize(
    ("beside", "failing"),
    [
        ("lint", "plan --check"),
        (".venv-extras/.ready", "test"),
        ("-m benchmarks.stores --quick --json", "test-extras"),
    ],
)
def test_what_goes_on_beside_a_step_ends_with_a_release_that_fails(beside: str, failing: str, tmp_path: Path) -> None:
    scripts = [".venv/bin/python", ".venv/bin/corpus", ".venv/bin/dagster", ".venv-extras/bin/python", "path/make"]
    for name in scripts:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o755)
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("data/raw/a", "data/corpus/ledger/minhashes/a.json", "corpus.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "temporary").mkdir()
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    known = {"BEGUN": str(begun), "BESIDE": beside, "FAILING": failing, "TMPDIR": str(tmp_path / "temporary")}
    path = f"{tmp_path / 'path'}:{os.environ['PATH']}"
    open_while_any_runs, held = os.pipe()
    run = subprocess.run(
        [tmp_path / ".ci" / "run"],
        check=False,
        env=os.environ | known | {"PATH": path},
        pass_fds=[held],
        capture_output=True,
    )
    os.close(held)
    assert run.returncode == 7, run.stderr.decode()
    assert select.select([open_while_any_runs], [], [], 60)[0], "something still runs"
    os.close(open_while_any_runs)


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
