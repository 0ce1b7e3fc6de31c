"""numba, loaded late: the asset graph imports without it, and compiled kernels are kept in a writable folder.

Kernel modules import `kernel` from here; plain modules import kernel modules inside functions, after `available()`.
"""

import logging
import os
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])

_LOG = logging.getLogger(__name__)
_CACHE = "NUMBA_CACHE_DIR"


@cache
def available() -> bool:
    """Whether kernels can be compiled; when not, says once that slower code does the work."""
    if find_spec("numba") is not None:
        return True
    _LOG.warning("numba is not installed: datasketch makes the signatures and numpy does the rest, some 40 times slower")
    return False


def kernel(function: F) -> F:
    """Compile a function of numbers and arrays on its first call; compiled code is cached on disk."""
    os.environ.setdefault(_CACHE, _cache_folder())
    from numba import njit

    return cast(F, njit(cache=True, nogil=True)(function))


@cache
def _cache_folder() -> str:
    """A folder of the user's own: what lies in it is executed, so it must be writable by nobody else."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = base / "corpus-assets" / "numba"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):
        return tempfile.mkdtemp(prefix="corpus-assets-numba-")
