"""Calls of the system that fail as the machine fails: for one file or folder, by its name."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest


def failing(monkeypatch: pytest.MonkeyPatch, call: str, name: str, number: int = errno.EIO) -> None:
    """Lets a function of `os` fail for all paths whose last name is `name`."""
    real = getattr(os, call)

    def fails(path: Any, *given: Any, **more: Any) -> Any:
        if not isinstance(path, int) and Path(os.fsdecode(path)).name == name:
            raise OSError(number, os.strerror(number), os.fsdecode(path))
        return real(path, *given, **more)

    monkeypatch.setattr(os, call, fails)
