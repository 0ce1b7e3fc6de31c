"""The `corpus` command as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MAIN = "from corpus_assets.cli.main import main; main()"


def start(folder: Path, *arguments: str, code: str = MAIN, home: Path | None = None) -> subprocess.Popen[str]:
    """Start the command on the corpus of a folder, in a session of its own. home: its DAGSTER_HOME."""
    environment = {key: value for key, value in os.environ.items() if key not in ("DAGSTER_HOME", "CORPUS_CONFIG")}
    if home is not None:
        environment["DAGSTER_HOME"] = str(home)
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(folder: Path, *arguments: str, code: str = MAIN) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a finished command."""
    process = start(folder, *arguments, code=code)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def last_json(out: str) -> Any:
    """The last line of the output, decoded from JSON."""
    return json.loads(out.splitlines()[-1])
