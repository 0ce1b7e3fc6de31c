"""Compiles the kernels that a build needs before they are called, in two processes beside the build.

A kernel is named by its module and function; it declares the argument types itself (`resources.kernels.jit.ahead`).
`python -m resources.kernels.compiling` reads a line `NAME ... [-- NAME ...]` from standard input and compiles the
shares that it names, each in a process of its own, until standard input ends.
"""

import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, cast

from resources.hashing import content_digest
from resources.kernels.cache_folder import cache_base

_START, _EACH = 1.5, 0.5
_PROCESSES = 2
_NEXT = "--"
_NOTES = "compiled"
_SLOW = {
    "hash_shingles": 11.0,
    "sign_and_sketch": 2.5,
    "measure_text": 3.0,
    "document_texts": 1.5,
    "pack": 1.0,
    "nearest_previous": 1.5,
}


_EARLY: list["subprocess.Popen[bytes]"] = []


def load_early() -> None:
    """Starts the compiling process early if nothing was ever compiled on this machine.

    It loads numba until a build names kernels. A command that builds calls this first: loading keeps only one core
    busy.
    """
    with suppress(OSError):
        if not _EARLY and not any((cache_base() / _NOTES).glob("*")):
            _EARLY.append(_started())


@contextmanager
def compiled_ahead(names: Iterable[str], say: Callable[[str], None]) -> Iterator[None]:
    """Compiles the named kernels, in order, while the block runs; a caller of a kernel waits only for that one.

    Does nothing if all are compiled. say: called with a few words when compiling begins, and with none when it is done.
    """
    shares = _shares(list(dict.fromkeys(names)), min(_PROCESSES, os.cpu_count() or 1))
    due = [share for share in shares if not is_done(share)]
    if not due:
        _end_early()
        yield
        return
    child = _EARLY.pop() if _EARLY else _started()
    if child.poll() is not None:
        child = _started()
    _name(child, due)
    say(f"compiling {sum(map(len, due))} kernels, once on this machine")
    watcher = threading.Thread(target=_say_end, args=(child, say), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        child.kill()
        watcher.join()
        child.communicate()


def _started() -> "subprocess.Popen[bytes]":
    # Not from the working folder: a folder there may be called like one of our packages.
    command = [sys.executable, "-P", "-m", "resources.kernels.compiling"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _name(child: "subprocess.Popen[bytes]", shares: Sequence[Sequence[str]]) -> None:
    with suppress(OSError):  # The system may have killed it to free memory.
        assert child.stdin is not None
        child.stdin.write(f" {_NEXT} ".join(map(" ".join, shares)).encode() + b"\n")
        child.stdin.flush()


def _end_early() -> None:
    while _EARLY:
        child = _EARLY.pop()
        child.kill()
        child.communicate()


def _shares(names: Sequence[str], count: int) -> list[list[str]]:
    """Returns the kernels for each of some processes, in order, each module's with the least busy one.

    Kernels of one module have one lock, so two processes would wait for each other.
    """
    modules: dict[str, list[str]] = {}
    for name in names:
        modules.setdefault(_module(name), []).append(name)
    shares: list[list[str]] = [[] for _ in range(min(count, len(modules)))]
    for together in modules.values():
        min(shares, key=lambda share: sum(map(_cost, share))).extend(together)
    return shares


def _cost(name: str) -> float:
    return _SLOW.get(name.rpartition(".")[2], _EACH)


def _say_end(child: "subprocess.Popen[bytes]", say: Callable[[str], None]) -> None:
    child.wait()
    say("")


def compile_now(names: Iterable[str]) -> dict[str, float]:
    """Compiles the named kernels, or loads them; returns the CPU seconds that each took."""
    seconds = {}
    for name in names:
        started = time.process_time()
        kernel = _kernel(name)
        for types in kernel.ahead:
            kernel.compile(_parsed(types))
        seconds[name] = time.process_time() - started
    return seconds


def missing(names: Iterable[str]) -> list[str]:
    """Returns those of the named kernels whose code is not on disk. Loads numba; raises `ImportError` without it."""
    import_module("numba")
    kernels = {}
    for name in names:
        with suppress(ImportError):  # One beside corpus.yaml cannot be imported here: it compiles when it is called.
            kernels[name] = _kernel(name)
    return [
        name
        for name, kernel in kernels.items()
        if not all(kernel._cache.holds(_parsed(types)) for types in kernel.ahead)
    ]


def cpu_seconds(names: Iterable[str]) -> float:
    """Returns about how long these kernels take to compile (measured: `python -m benchmarks.kernels`)."""
    return _START + sum(map(_cost, names))


def is_done(names: Sequence[str]) -> bool:
    """Returns whether these kernels were compiled and nothing that they are made from has another time or size.

    Loads neither numba nor a kernel. A wrong no costs a look at the cache; a wrong yes costs a wait when a kernel is
    first called.
    """
    try:
        found = json.loads(_note(names).read_bytes())
        return bool(found) and all(_stamp(Path(path)) == stamp for path, stamp in found.items())
    except (OSError, ValueError, AttributeError):
        return False


def _note_done(names: Sequence[str]) -> None:
    from resources.kernels.kernel_cache import sources

    files = {path for name in names for path in sources(_module(name))}
    with suppress(OSError):
        note = _note(names)
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        note.write_text(json.dumps({str(path): _stamp(path) for path in sorted(files)}))


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def _note(names: Sequence[str]) -> Path:
    from importlib.metadata import version

    from resources.kernels.processor import processor

    here = str(Path(__file__).resolve())  # Another clone or installation has other sources.
    programs = (sys.version, version("numba"), version("llvmlite"), version("numpy"))
    parts = (*programs, os.uname().nodename, processor(), here, *names)
    return cache_base() / _NOTES / content_digest(*(part.encode() for part in parts))[:16]


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _kernel(name: str) -> Any:
    return getattr(import_module(_module(name)), name.rpartition(".")[2])


def _parsed(types: str) -> tuple[Any, ...]:
    from numba.core import sigutils

    found, _ = cast(Any, sigutils).normalize_signature(f"({types},)")
    return tuple(found)


def _leave_with_parent() -> None:
    def leave() -> None:
        while os.read(0, 1):  # not through sys.stdin, whose lock a fork would copy
            pass
        os._exit(0)

    threading.Thread(target=leave, daemon=True).start()


def _forked(shares: Sequence[Sequence[str]]) -> tuple[Sequence[str], list[int]]:
    """Returns the share of this process, which is now one of several, and the ids of those that it must wait for.

    Called when numba is loaded and has compiled something, since a new process would need a second for that.
    """
    others: list[int] = []
    for share in shares[1:]:
        if (process := os.fork()) == 0:
            _leave_with_parent()
            return share, []
        others.append(process)
    return shares[0], others


def _compile_share(names: Sequence[str]) -> None:
    for name in names:
        with suppress(Exception):  # a module beside corpus.yaml, or wrong argument types: it compiles when called
            compile_now([name])
    if not missing(names):
        _note_done(names)


def _prepare() -> None:
    """Loads what numba compiles for its own use here, before `unrun` keeps everything else from running."""
    from resources.kernels.jit import load
    from resources.kernels.unrun import lighten

    gc.disable()  # The process lives for seconds, and garbage collection would take a tenth of that.
    load()
    lighten()
    gc.freeze()


def _named() -> list[list[str]]:
    """Returns the kernels that standard input names, by shares; none if it ended first."""
    line = bytearray()
    while not line.endswith(b"\n") and (more := os.read(0, 1)):  # not through sys.stdin, as above
        line += more
    return [share.split() for share in line.decode().split(_NEXT)]


def main() -> None:
    """Compiles the kernels that standard input names."""
    _prepare()
    shares = _named()
    if not any(shares):
        return
    _leave_with_parent()
    for name in chain(*shares):
        with suppress(Exception):
            _kernel(name)
    with suppress(Exception):
        compile_now(shares[0][:1])
    mine, others = _forked(shares)
    _compile_share(mine)
    for process in others:
        os.waitpid(process, 0)


if __name__ == "__main__":
    main()
