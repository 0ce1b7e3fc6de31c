"""Some of the calls and requests that `make faults` lets fail, and that it finds what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.faults import every_call
from tests.faults.preloaded import compiled

TOP = Path(__file__).resolve().parents[2]
SEED = "5"
CHANGED = """
import sys
from resources import system_errors
from tests.faults import every_call

{change}
sys.exit(every_call.main(sys.argv[1:]))
"""
NO_PLACES = "system_errors.placed = lambda error, *_: error"


def tried(folder: Path, *arguments: str, change: str = "") -> tuple[int, dict[str, Any]]:
    """Exit code and figures of the calls that were tried. change: of the program."""
    command = [sys.executable, "-c", CHANGED.format(change=change), "--folder", str(folder), "--seed", SEED, *arguments]
    library = {"LD_PRELOAD": str(compiled("io_fault", folder))}
    return ran(command, os.environ | every_call.ONE_THREAD | library)


def ran(command: list[str], environment: dict[str, str]) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_call_that_fails_is_told_and_costs_nothing(tmp_path: Path) -> None:
    code, found = tried(tmp_path, "--corpora", "meanings", "--share", "0.004")
    assert (code, found["wrong"]) == (0, [])
    assert found["calls"] > 10_000
    assert {"read", "open", "stat"} <= found["tried"].keys()


@pytest.mark.slow
def test_an_error_without_a_place_is_found(tmp_path: Path) -> None:
    code, found = tried(tmp_path, "--corpora", "ids", "--stage", "inventory", "--share", "0.2", change=NO_PLACES)
    assert code == 1
    assert any("a message tells no place" in line for line in found["wrong"])


@pytest.mark.slow
def test_a_request_that_fails_is_told_and_costs_nothing() -> None:
    pytest.importorskip("moto", reason="moto[server] is not installed (extra s3-server)")
    pytest.importorskip("flask", reason="moto[server] is not installed (extra s3-server)")
    stages = ["raw_source", "normalized_documents"]
    command = [
        sys.executable,
        "-m",
        "tests.faults.every_request",
        "--stages",
        *stages,
        "--share",
        "0.1",
        "--seed",
        SEED,
    ]
    code, found = ran(command, dict(os.environ))
    assert (code, found["wrong"]) == (0, [])
    assert found["tried"] > 5
