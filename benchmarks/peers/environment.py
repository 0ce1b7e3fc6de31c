"""A virtual environment per peer, made once and kept."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.process import run

INSTALL_SECONDS = 900
READY = "requirements.ready"


def python_of(folder: Path, requirements: Sequence[str]) -> Path:
    """The Python of the environment at `folder`, made again unless it has exactly these requirements.

    Raises AbsentError when they cannot be installed.
    """
    python = folder / "bin" / "python"
    wanted = "".join(f"{requirement}\n" for requirement in requirements)
    ready = folder / READY
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_name(f"{folder.name}.log")
    make = [sys.executable, "-m", "venv", str(folder)]
    install = [str(python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *requirements]
    for command in (make, install):
        run(command, folder=folder.parent, log=log, limit=INSTALL_SECONDS)
    ready.write_text(wanted, encoding="utf-8")
    return python
