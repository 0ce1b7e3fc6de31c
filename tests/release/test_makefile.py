"""`make demo` says what it does while packages are installed, and stops if they are not; `make test` runs again."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PYTHON = """\
#!/bin/sh
case "$*" in
  *"-m venv"*) mkdir -p .venv ;;
  *requirements.lock*)
    for n in $(seq 45); do echo "Collecting package-$n==1 (from -r requirements.lock)"; echo "  Downloading it"; done
    echo "Processing /wheels/last-1-none-any.whl (from -r requirements.lock)"
    @END@ ;;
esac
"""


def made(folder: Path, end: str) -> subprocess.CompletedProcess[str]:
    """Runs `make .venv/.ready` with a Python that says what pip says."""
    shutil.copy(TOP / "Makefile", folder / "Makefile")
    for name in ("pyproject.toml", "requirements.lock"):
        (folder / name).touch()
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PYTHON.replace("@END@", end))
    python.chmod(0o755)
    command = ["make", "UV=", f"BIN={python.parent}", f"PYTHON={python}", ".venv/.ready"]
    return subprocess.run(
        command, cwd=folder, env=outside_make(), capture_output=True, text=True, check=False, timeout=60
    )


def outside_make() -> dict[str, str]:
    """The environment without what `make test` says to a `make` below it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_install_says_how_far_it_is(tmp_path: Path) -> None:
    done = made(tmp_path, 'echo "Installing collected packages: package-1, last"')
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".venv" / ".ready").exists()
    assert done.stdout.splitlines() == [
        "Making .venv and installing the packages of requirements.lock into it: once, for a minute or two ...",
        *(f"  package {number}: package-{number}==1" for number in (1, 21, 41)),
        "  all 46 packages are there; unpacking them ...",
        "All packages are installed.",
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_an_install_that_fails_stops_make_and_says_why(tmp_path: Path) -> None:
    done = made(tmp_path, 'echo "ERROR: hashes differ" >&2; exit 1')
    assert done.returncode != 0
    assert "ERROR: hashes differ" in done.stderr
    assert not (tmp_path / ".venv" / ".ready").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_tests_run_again_where_they_have_run(tmp_path: Path) -> None:
    """The list of what was skipped is there then; pytest takes a file that stands alone for a test."""
    (tmp_path / "skipped").touch()
    variables = [f"SKIPPED={tmp_path}/skipped", f"BIN={Path(sys.executable).parent}", "READY="]
    make = ["make", "--no-print-directory", "-n", "test", *variables]
    printed = subprocess.run(make, cwd=TOP, env=outside_make(), capture_output=True, text=True, check=True)
    command = shlex.split(printed.stdout.splitlines()[-1])
    assert f"--skipped-to={tmp_path}/skipped" in command
    read = subprocess.run([*command, "--markers"], cwd=TOP, capture_output=True, text=True, check=False, timeout=60)
    assert read.returncode == 0, read.stderr
