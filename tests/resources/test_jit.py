"""Compiled kernels: loaded late, kept in a folder of the user, compiled again when any of their sources changes."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from resources.kernels import cache_folder

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
from resources.kernels.jit import kernel
from {package}.kernels.helper import helper

@kernel
def doubled(number):
    return helper(number)
"""
HELPER = """
from resources.kernels.jit import inlined

@inlined
def helper(number):
    return number * {factor}
"""


def run(code: str, **environment: str) -> str:
    values = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{environment.get('EXTRA', '')}"} | environment
    done = subprocess.run(
        [sys.executable, "-c", code], env=values, cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_graph_loads_without_numba() -> None:
    code = "import sys, corpus_assets.definitions; print({'numba', 'networkit', 'datasketch'} & sys.modules.keys())"
    assert run(code, CORPUS_CONFIG=str(ROOT / "corpus.yaml")) == "set()"


def test_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = Path(cache_folder.own_folder())
    assert folder.is_relative_to(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_where_nothing_can_be_written_a_folder_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = Path(cache_folder.own_folder())
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert cache_folder.own_folder() == str(folder), "every process of the user finds the same one"


def test_a_user_without_a_home_has_a_folder_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def expanduser(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", expanduser)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = Path(cache_folder.own_folder())
    assert folder.parent == tmp_path
    assert cache_folder.own_folder() == str(folder), "every process of the user finds the same one"


def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = tmp_path / f"corpus-assets-numba-{os.getuid()}"
    planted.mkdir(mode=0o777)
    planted.chmod(0o777)
    assert cache_folder.own_folder() != str(planted)


@pytest.mark.slow
def test_code_is_compiled_once_for_equal_sources(tmp_path: Path) -> None:
    """numba alone would look at the kernel's own file only, and at its time."""
    package = tmp_path / "code" / "made"
    (package / "kernels").mkdir(parents=True)
    calls = package / "kernels" / "calls.py"
    calls.write_text(KERNEL.format(package="made"))

    waited: list[bool] = []

    def called(factor: int) -> tuple[str, int]:
        (package / "kernels" / "helper.py").write_text(HELPER.format(factor=factor))
        shutil.rmtree(package / "kernels" / "__pycache__", ignore_errors=True)
        code = (
            "from made.kernels.calls import doubled; from resources.kernels.jit import compile_seconds;"
            "print(doubled(7), sum(doubled.stats.cache_misses.values()), compile_seconds())"
        )
        environment = {"EXTRA": str(tmp_path / "code"), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        result, compiled, seconds = run(code, **environment).split()
        waited.append(float(seconds) > 0)
        return result, int(compiled)

    def saved() -> list[Path]:
        return sorted((tmp_path / "cache").glob("made.kernels.calls-*/*.kernel"))

    assert called(2) == ("14", 1)
    assert called(3) == ("21", 1), "a changed helper is no stale code"
    os.utime(calls)
    assert called(2) == ("14", 0), "neither another time nor what was compiled meanwhile matters"
    assert len(saved()) == 2
    assert waited == [True, True, False], "time is counted where something was compiled"
    for file in saved():
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    assert called(2) == ("14", 1), "damaged code is compiled again"
    assert called(2) == ("14", 0)
    for file in saved():
        file.write_bytes(b"")
    (tmp_path / "cache").chmod(0o500)
    assert called(3) == ("21", 1)


@pytest.mark.slow
def test_of_many_processes_one_compiles(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(KERNEL.format(package="made").replace("made.kernels.helper", "made_helper"))
    (tmp_path / "made_helper.py").write_text(HELPER.format(factor=2))
    code = "from made import doubled; doubled(7); print(sum(doubled.stats.cache_misses.values()))"
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sum(int(process.communicate()[0]) for process in running) == 1


def test_the_environment_is_left_alone(tmp_path: Path) -> None:
    """A folder written back to it would be extended by the next package, and again in the next process."""
    code = (
        "import os; import corpus_assets.dedup.kernels.forest, resources.formats.kernels.planes;"
        "print(os.environ['NUMBA_CACHE_DIR'])"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == str(tmp_path)
