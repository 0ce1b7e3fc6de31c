"""The compiled code of kernels on disk: each is compiled once, by one process, and found again by all others.

A folder per kernel module; its name holds a digest of everything that the code is made from: the module, the modules of
the project that it imports, numba, Python and the processor. numba's own cache notices only changes of the kernel's own
file, compiles again when only the file's time has changed, and runs damaged code.
"""

import ast
import fcntl
import io
import os
import pickle
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from importlib.metadata import distributions, version
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from numba.core import serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from typing_extensions import override

from resources.hashing import content_digest
from resources.kernels.cache_folder import cache_base
from resources.kernels.processor import CPU, FEATURES

_SUFFIX, _LOCK = ".kernel", ".lock"
_DIGEST_BYTES = 32
_SITES = {"site-packages", "dist-packages"}
_COMPILER = "resources.kernels.jit"  # it decides how kernels are compiled; what it imports does not matter
_NEEDS_ALL = b"_numba_hashsecret_"
"""In code that hashes strings: their secret is known once numba has loaded all that it can compile."""
_HELD: dict[Path, int] = {}


class KernelCache(_Cache):
    """The compiled code of one kernel: a file per combination of argument types, led by a digest of its bytes.

    A file that is damaged or cannot be read counts as missing, and one that cannot be written is left out.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder

    @property
    @override
    def cache_path(self) -> str:
        return str(self._folder)

    def file(self, signature: Any) -> Path:
        """Returns the file of the code for these argument types: a tuple of them, or a signature."""
        types = getattr(signature, "args", signature)
        return self._folder / f"{self._name}-{content_digest(repr(types).encode())[:16]}{_SUFFIX}"

    def holds(self, signature: Any) -> bool:
        """Returns whether a file with the code for these argument types exists and can be seen."""
        with suppress(OSError):
            return self.file(signature).exists()
        return False

    @override
    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Returns the compiled code for these argument types; None if it must be compiled."""
        try:
            content = self.file(sig).read_bytes()
            if _digest(content[_DIGEST_BYTES:]) != content[:_DIGEST_BYTES]:
                return None
            if _NEEDS_ALL in content:
                target_context.refresh()
            else:
                load_runtime(target_context)
            # A folder of the user's own: what lies in it is executed in any case.
            return cast(Any, CompileResult)._rebuild(target_context, *pickle.load(io.BytesIO(content[_DIGEST_BYTES:])))
        except Exception:  # files of another version may raise anything
            return None

    @override
    def save_overload(self, sig: Any, data: Any) -> None:
        """Writes compiled code, whole or not at all."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        code: bytes = cast(Any, serialize).dumps(data._reduce())
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_digest(code) + code)
                Path(name).replace(self.file(sig))
            finally:
                Path(name).unlink(missing_ok=True)

    @override
    def enable(self) -> None:
        """Does nothing: the cache is always enabled."""

    @override
    def disable(self) -> None:
        """Does nothing: the cache is always enabled."""

    @override
    def flush(self) -> None:
        """Removes the code for all argument types."""
        for file in self._folder.glob(f"{self._name}-*{_SUFFIX}"):
            file.unlink(missing_ok=True)


def load_runtime(target_context: Any) -> None:
    """Loads what compiled code calls, unless it is loaded; not what numba compiles with, which takes it far longer."""
    rtsys.initialize(target_context)


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=_DIGEST_BYTES).digest()


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Holds the lock of this folder, so that one process at a time compiles its kernels.

    The thread that holds it may enter again. Without a writable folder there is nothing to share, and no lock.
    """
    _HELD[folder] = _HELD.get(folder, 0) + 1
    lock = _lock(folder) if _HELD[folder] == 1 else None
    try:
        yield
    finally:
        _HELD[folder] -= 1
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        return lock
    return None


@cache
def cache_folder(module: str) -> Path:
    """Returns the folder of a kernel module's compiled code; the module and what it imports are loaded, or loading."""
    return cache_base() / f"{module}-{content_digest(*_made_from(module))[:16]}"


def _made_from(module: str) -> Iterator[bytes]:
    """Yields what the code of a kernel module depends on."""
    yield from _compiler_and_processor()
    for name, file in sorted(_reached(sys.modules[module]).items()):
        yield name.encode()
        yield file.read_bytes()


@cache
def _compiler_and_processor() -> tuple[bytes, bytes]:
    from llvmlite import binding

    programs = f"{sys.version} {version('numba')} {version('llvmlite')} {version('numpy')}"
    cpu, features = os.environ.get(CPU), os.environ.get(FEATURES)
    of_cpu = f"{cpu or binding.get_host_cpu_name()} {features or binding.get_host_cpu_features().flatten()}"
    return programs.encode(), of_cpu.encode()


def sources(module: str) -> list[Path]:
    """Returns the files that the code of a loaded kernel module depends on."""
    return list(_reached(sys.modules[module]).values())


def _reached(start: ModuleType) -> dict[str, Path]:
    """Returns the files of a module and of all modules that it imports, directly or not, except installed libraries."""
    found: dict[str, Path] = {}
    frontier = [start]
    while frontier:
        module = frontier.pop()
        if module.__name__ in found:
            continue
        file = Path(getattr(module, "__file__", None) or "")  # Modules built into Python have no file.
        if not _is_project(module.__name__, file):
            continue
        found[module.__name__] = file
        if module.__name__ == _COMPILER:
            continue
        imported = _imported(file, module.__package__)
        frontier += [sys.modules[name] for name in imported if name in sys.modules]
    return found


def _is_project(name: str, file: Path) -> bool:
    """Returns whether a module is one of ours, or of a user beside his configuration."""
    if name.split(".", maxsplit=1)[0] in ("corpus_assets", "resources", "partitions"):
        return True
    if file.suffix != ".py" or _SITES & {*file.parts}:
        return False
    return not (any(file.is_relative_to(place) for place in _installed()) or _is_library(file))


@cache
def _installed() -> set[str]:
    return {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}


def _is_library(file: Path) -> bool:
    """Returns whether a file belongs to a package that was installed into any folder that Python searches.

    That includes folders of `PYTHONPATH` and of `.pth` files. A module that only lies in such a folder is a user's own.
    """
    places = {Path(place).absolute() for place in sys.path}
    return any(file in _files_of_libraries(place) for place in file.parents if place in places)


@cache
def _files_of_libraries(place: Path) -> set[Path]:
    found = distributions(path=[str(place)])
    return {place / path for one in found for path in one.files or () if path.suffix == ".py"}


@cache
def _imported(file: Path, package: str | None) -> set[str]:
    """Returns the modules that a module names in its import statements, and names in them that may be modules."""
    found: set[str] = set()
    for node in _statements(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            found.update((source, *(f"{source}.{alias.name}" for alias in node.names)))
    return found


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields all statements, without what lies in expressions, which is most of a module and imports nothing."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.expr):
            yield child
            yield from _statements(child)
