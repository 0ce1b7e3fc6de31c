"""numba, loaded late: the asset graph imports without it, and compiled kernels are kept in a writable folder.

Kernel modules import `kernel` from here; plain modules import kernel modules inside functions, after `available()`.
"""

import logging
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from resources.hashing import content_digest

F = TypeVar("F", bound=Callable[..., Any])

_LOG = logging.getLogger(__name__)
_CACHE, _CPU, _FEATURES = "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"


@cache
def available() -> bool:
    """Whether kernels can be compiled; when not, says once that slower code does the work."""
    if find_spec("numba") is not None:
        return True
    _LOG.warning("numba is not installed: datasketch makes the signatures and numpy does the rest, far slower")
    return False


def kernel(function: F) -> F:
    """Compile a function of numbers and arrays on its first call; compiled code is cached on disk."""
    _prepare(Path(function.__code__.co_filename).parents[1])
    from numba import njit

    return cast(F, njit(cache=True, nogil=True)(function))


def inlined(function: F) -> F:
    """Compile a function into each kernel that calls it: LLVM vectorises no loop with a call in it."""
    _prepare(Path(function.__code__.co_filename).parents[1])
    from numba import njit

    return cast(F, njit(nogil=True, forceinline=True)(function))


@cache
def _prepare(sources: Path) -> None:
    """Say where compiled code goes and for what processor it is, before numba is imported.

    numba compiles anew when a kernel's own file changes, but not when a helper does that it calls from another file:
    so the folder is named by a digest of all source files of the package.
    """
    base = Path(os.environ.get(_CACHE) or _own_folder())
    digest = content_digest(*(file.read_bytes() for file in sorted(sources.rglob("*.py"))))[:16]
    os.environ[_CACHE] = str(base if base.name == digest else base / digest)
    if not {_CPU, _FEATURES} & os.environ.keys():
        os.environ |= _wide_vectors()
    if "numba" in sys.modules:  # Someone else's import came first; it has read the environment already.
        sys.modules["numba"].config.reload_config()


def _wide_vectors() -> dict[str, str]:
    """LLVM takes half of a 512-bit unit's width unless it is told otherwise; nothing for other processors."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if not features.get("avx512f"):
        return {}
    return {_CPU: binding.get_host_cpu_name(), _FEATURES: f"{features.flatten()},-prefer-256-bit"}


def _own_folder() -> str:
    """A folder of the user's own: what lies in it is executed, so it must be writable by nobody else."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    places = [base / "corpus-assets" / "numba", Path(tempfile.gettempdir()) / f"corpus-assets-numba-{os.getuid()}"]
    return next((str(folder) for folder in places if _is_own(folder)), None) or tempfile.mkdtemp(
        prefix="corpus-assets-"
    )


def _is_own(folder: Path) -> bool:
    """Whether the folder is there, or can be made, and only this user can write to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            found = folder.lstat()
    except (OSError, RuntimeError):
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
