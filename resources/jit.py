"""numba, loaded late: the asset graph loads without it, and compiled kernels are kept in a folder of the user's own.

Kernel modules import `kernel` from here; plain modules import kernel modules inside functions.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from resources.hashing import content_digest

F = TypeVar("F", bound=Callable[..., Any])

_CACHE, _CPU, _FEATURES = "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"


def kernel(function: F) -> F:
    """Compiles a function of numbers and arrays on its first call; caches the compiled code on disk."""
    _prepare(Path(function.__code__.co_filename).parents[1])
    from numba import njit

    return cast(F, njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function))


def inlined(function: F) -> F:
    """Compiles a function into each kernel that calls it: LLVM does not vectorise a loop that contains a call."""
    _prepare(Path(function.__code__.co_filename).parents[1])
    from numba import njit

    return cast(F, njit(nogil=True, forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function))


@cache
def _prepare(sources: Path) -> None:
    """Sets the folder of compiled code and the processor that it is for, before numba is imported.

    numba compiles again when a kernel's own file changes, but not when a helper in another file does: so a digest of
    all source files of the package names the folder.
    """
    base = Path(os.environ.get(_CACHE) or _own_folder())
    digest = content_digest(*(file.read_bytes() for file in sorted(sources.rglob("*.py"))))[:16]
    os.environ[_CACHE] = str(base if base.name == digest else base / digest)
    if not {_CPU, _FEATURES} & os.environ.keys():
        os.environ |= _wide_vectors()
    if "numba" in sys.modules:  # Somebody else imported numba first, and it has already read the environment.
        sys.modules["numba"].config.reload_config()


def _wide_vectors() -> dict[str, str]:
    """Returns settings that make LLVM use the whole width of 512-bit units; none for processors without them."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if not features.get("avx512f"):
        return {}
    return {_CPU: binding.get_host_cpu_name(), _FEATURES: f"{features.flatten()},-prefer-256-bit"}


def _own_folder() -> str:
    """Returns a folder that only this user can write to, since what lies in it is executed."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    places = [base / "corpus-assets" / "numba", Path(tempfile.gettempdir()) / f"corpus-assets-numba-{os.getuid()}"]
    return next((str(folder) for folder in places if _is_own(folder)), None) or tempfile.mkdtemp(
        prefix="corpus-assets-"
    )


def _is_own(folder: Path) -> bool:
    """Returns whether the folder exists or can be made, and only this user can write to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            found = folder.lstat()
    except (OSError, RuntimeError):
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def merged(function: F) -> F:
    """Merges a function into its only caller before anything is compiled: LLVM would optimise its code twice."""
    _prepare(Path(function.__code__.co_filename).parents[1])
    from numba import njit

    return cast(F, njit(inline="always")(function))
