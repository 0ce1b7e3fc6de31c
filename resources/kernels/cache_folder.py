"""Where compiled kernels are kept: `$NUMBA_CACHE_DIR`, or a folder of the user's own."""

import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def cache_base() -> Path:
    """Returns the folder of all compiled code."""
    return Path(os.environ.get(VARIABLE) or own_folder())


def own_folder() -> str:
    """Returns a folder that only this user can write to, since the code in it is executed."""
    places = [*_at_home(), Path(tempfile.gettempdir()) / f"corpus-assets-numba-{os.getuid()}"]
    return next((str(folder) for folder in places if _is_own(folder)), None) or _of_this_process()


def _at_home() -> list[Path]:
    """Returns the folder inside the user's cache folder, if the user has a home."""
    with suppress(RuntimeError):
        return [Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "corpus-assets" / "numba"]
    return []


@cache
def _of_this_process() -> str:
    return tempfile.mkdtemp(prefix="corpus-assets-")


def _is_own(folder: Path) -> bool:
    """Returns whether the folder exists or can be made, and only this user can write to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
