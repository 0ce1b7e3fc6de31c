"""The commands of Dagster that the README names run on a corpus, without a warning, and leave no process behind."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.build.small import opened, write_small

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_they_run_without_a_warning(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "corpus", {"engine.workers": 2})
    home = folder / ".dagster_home"
    home.mkdir()
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line.replace("code--part-00", "books--one") for line in lines if line.startswith("dagster ")]
    assert any("--partition" in command for command in commands)
    (exported,) = (shlex.split(line)[1:] for line in lines if line.startswith("export DAGSTER_HOME="))
    environment = {
        **os.environ,
        **dict(one.split("=", 1) for one in exported),
        "DAGSTER_HOME": str(home),
        "CORPUS_CONFIG": str(folder / "corpus.yaml"),
    }
    for command in commands:
        ended = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ended.returncode == 0, ended.stderr
        assert "Warning" not in ended.stderr
    assert opened(folder).ledger.read("normalized_documents", "books--one") is not None
    _, left = psutil.wait_procs([one for one in psutil.process_iter() if _is_of(one, home)], timeout=60)
    assert not left


def _is_of(process: psutil.Process, home: Path) -> bool:
    try:
        return bool(process.environ().get("DAGSTER_HOME") == str(home))
    except psutil.Error:
        return False
