"""Compiled code is written whole or not at all."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.kernels.kernel_cache import KernelCache
from tests.build.small import write_small
from tests.faults.command import MAIN

CODE = SimpleNamespace(lifted=(), library=SimpleNamespace(has_dynamic_globals=False), _reduce=lambda: ("code",))


def test_code_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    cache = KernelCache("one", tmp_path)
    cache.file(()).mkdir()
    cache.save_overload((), CODE)
    assert list(tmp_path.iterdir()) == [cache.file(())]
    cache.file(()).rmdir()
    cache.save_overload((), CODE)
    assert [path.is_file() for path in tmp_path.iterdir()] == [True]


def test_a_folder_that_cannot_be_entered_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(path: Path) -> bool:  # as for a user who is not root
        raise PermissionError(path)

    cache = KernelCache("one", tmp_path)
    cache.save_overload((), CODE)
    assert cache.holds(())
    monkeypatch.setattr(Path, "exists", exists)
    assert not cache.holds(())


ROOT = Path(__file__).resolve().parents[2]
SOURCES = """
import sys
from importlib import import_module
from resources.kernels.kernel_cache import cache_folder, sources
sys.path.insert(0, sys.argv[1])
import_module("own_kernels")
cache_folder("own_kernels")
print(*sources("own_kernels"), sep="\\n")
"""


@pytest.mark.slow
@pytest.mark.sampled(every=3)  # Each way and each name once.
@pytest.mark.parametrize("how", ["PYTHONPATH", "pth"])
@pytest.mark.parametrize("name", ["site-packages", "libraries"])
def test_libraries_may_lie_anywhere(tmp_path: Path, how: str, name: str) -> None:
    """An interpreter without packages, which finds them in a folder that is not its own."""
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare/bin/python"
    libraries = tmp_path / name
    libraries.symlink_to(sysconfig.get_path("purelib"))
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "DAGSTER_HOME")}
    if how == "pth":
        (own,) = (tmp_path / "bare/lib").glob("python*/site-packages")
        (own / "elsewhere.pth").write_text(f"{ROOT}\n{libraries}\n")
    else:
        environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{libraries}"
    folder = write_small(tmp_path / "corpus", {"engine.workers": 1})
    (folder / "own_kernels.py").write_text("import os, sys, numba, numpy\nfrom own_tables import TABLE\n")
    (folder / "own_tables.py").write_text("import numpy.fft\nTABLE = (1, 2)\n")

    def run(*command: str) -> str:
        done = subprocess.run(
            [str(python), "-c", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    found = run(SOURCES, str(folder)).split()
    assert found == [str(folder / "own_kernels.py"), str(folder / "own_tables.py")]
    assert json.loads(run(MAIN, "doctor", "--json"))["ok"]
    assert json.loads(run(MAIN, "build", "--json", "--select", "+minhashes"))["failed"] == 0


KERNELS = """
from resources.kernels.jit import kernel


@kernel
def total(values):
    found = 0
    for value in values:
        found += value
    return found


@kernel
def distinct(words):
    return len(set(words))
"""
CALLS = """
import sys
import numpy as np
from resources.kernels.jit import load
load()
from own_kernels import distinct, total
called = {"total": lambda: total(np.arange(5)), "distinct": lambda: distinct(("a", "bc", "a"))}
print(called[sys.argv[1]](), "numba.np.linalg" in sys.modules, "awkward" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "result", "needs_all"), [("total", 10, False), ("distinct", 2, True)])
def test_kept_code_loads_what_it_calls(tmp_path: Path, name: str, result: int, *, needs_all: bool) -> None:
    """What only compiling needs takes numba longest to load; but code that hashes strings calls some of it.

    Extensions of numba, such as that of awkward, are loaded where it compiles.
    """
    (tmp_path / "own_kernels.py").write_text(KERNELS)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "XDG_CACHE_HOME": str(tmp_path)}

    def run() -> str:
        command = [sys.executable, "-c", CALLS, name]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run().split() == [str(result), "True", "True"]  # It compiles.
    assert run().split() == [str(result), str(needs_all), str(needs_all)]
