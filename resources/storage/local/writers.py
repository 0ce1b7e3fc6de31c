"""Names of the temporary folders of a local store: which process writes in one, and whether it still runs."""

import os
import re
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path

from resources.processes.alive import Birth, birth, has_ended, start_time

_DAY = 24 * 60 * 60
_CLOCK_STEP = 60 * 60  # Tolerance for a clock that is set while a partition is written.
_OWNER = re.compile(r"(?P<host>[^@]+)(@(?P<place>.+)-(?P<ticks>\d+))?\.(?P<pid>\d+)\.[0-9a-f]+")


def new_name() -> str:
    """Returns a unique name that identifies the process that writes in the folder."""
    return f"{_host()}.{os.getpid()}.{secrets.token_hex(8)}"


def _host() -> str:
    """Returns the part of the name that identifies this machine, and this process together with its number.

    Programs that only know names without a place take this for another host, and leave the folder alone for a day.
    """
    host, born = socket.gethostname(), birth(os.getpid())
    return f"{host}@{born.place}-{born.ticks}" if born.place else host


def alive(folder: Path, *, alone: bool) -> bool:
    """Returns whether the writer of a temporary folder still runs.

    A writer of another host, boot of the machine or namespace of process numbers counts as running for a day after it
    last wrote, since this machine cannot know. alone: the store is held alone, so no process builds on a machine of
    this name; then writers of its earlier boots have ended.
    """
    owner = _OWNER.fullmatch(folder.name)
    if owner is None:
        return False
    if owner["place"] == birth(os.getpid()).place:
        return not has_ended(int(owner["pid"]), Birth(owner["place"], int(owner["ticks"])))
    is_here = owner["host"] == socket.gethostname()
    if is_here and owner["place"] is None:
        return _has_process(folder, int(owner["pid"]))
    if is_here and alone and Birth(owner["place"]).boot != birth(os.getpid()).boot:
        return False
    return _wrote_lately(folder)


def _wrote_lately(folder: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - max([folder.stat().st_mtime, *map(_written, folder.iterdir())]) < _DAY
    return False


def _written(file: Path) -> float:
    """Returns when a file was written; 0 if its writer has put it in place meanwhile, which its folder tells."""
    with suppress(FileNotFoundError):
        return file.stat().st_mtime
    return 0.0


def _has_process(folder: Path, pid: int) -> bool:
    """Returns whether the writer of a folder without a place in its name still runs; it counts as a local one."""
    started = start_time(pid)
    try:
        # A process that began after the last write has only inherited the writer's number.
        return started is not None and started < folder.stat().st_mtime + _CLOCK_STEP
    except FileNotFoundError:
        return False
