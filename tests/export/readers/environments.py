"""Environments of the trainers' libraries, and how a test runs something in one of them.

`requirements/NAME.txt` says what `.venv-readers/NAME` holds; `make test-readers` makes them all. A module of `inside`
runs there: it has a function `answer`, which takes a value of JSON and returns one.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / ".venv-readers"
PAGES = ROOT / "docs" / "trainers"
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "WANDB_MODE": "disabled",
}
"""No test of a reader asks a server for anything."""


def python_of(name: str) -> Path:
    """The interpreter of an environment, there or not."""
    return FOLDER / name / "bin" / "python"


def needs(name: str, *more: Any) -> Any:
    """The values of a parameter, of which the first is an environment; without it the test is skipped.

    With `--all-readers` such a skip is a failure.
    """
    absent = pytest.mark.skipif(not python_of(name).exists(), reason=f"no .venv-readers/{name}: `make test-readers`")
    return pytest.param(name, *more, marks=[pytest.mark.slow, absent], id="-".join(map(str, (name, *more))))


def run(name: str, module: str, given: Any, folder: Path, **variables: str) -> Any:
    """What `answer(given)` of a module of `inside` returns in an environment.

    The working directory is `folder`, which has the corpus of the test under the name that the pages use, `CORPUS`.
    Errors: AssertionError with the last lines of both outputs.
    """
    corpus = folder / "CORPUS"
    if not corpus.is_symlink():
        corpus.symlink_to(folder / "corpus", target_is_directory=True)
    python = python_of(name)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "PYTHONPATH": str(ROOT), "HF_HOME": str(folder / "hub"), **variables}
    environment = {**os.environ, **OFFLINE, **own}
    command = [str(python), "-m", "tests.export.readers.inside", module]
    done = subprocess.run(
        command, check=False, cwd=folder, env=environment, input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, f"{module} in {name}:\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def blocks(page: str, language: str) -> list[str]:
    """The blocks of code of a trainer's page, as they stand there."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def block(page: str, language: str, having: str) -> str:
    """The only block of a page that has these words."""
    (found,) = (one for one in blocks(page, language) if having in one)
    return found
