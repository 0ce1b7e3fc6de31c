"""Compiled kernels: loaded late, kept in a folder of the user, compiled anew when any of their sources changes."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from resources import jit

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
from resources.jit import kernel
from {package}.kernels.helper import helper

@kernel
def doubled(number):
    return helper(number)
"""
HELPER = """
from resources.jit import inlined

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
    folder = Path(jit._own_folder())
    assert folder.is_relative_to(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_where_nothing_can_be_written_a_folder_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = Path(jit._own_folder())
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert jit._own_folder() == str(folder), "every process of the user finds the same one"


def test_a_folder_that_others_can_write_to_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = tmp_path / f"corpus-assets-numba-{os.getuid()}"
    planted.mkdir(mode=0o777)
    planted.chmod(0o777)
    assert jit._own_folder() != str(planted)


@pytest.mark.slow
def test_a_changed_helper_is_compiled_anew(tmp_path: Path) -> None:
    """numba alone would look at the kernel's own file only and give the old result."""
    package = tmp_path / "code" / "made"
    (package / "kernels").mkdir(parents=True)
    (package / "kernels" / "calls.py").write_text(KERNEL.format(package="made"))
    seen = []
    for factor in (2, 3):
        (package / "kernels" / "helper.py").write_text(HELPER.format(factor=factor))
        shutil.rmtree(package / "kernels" / "__pycache__", ignore_errors=True)
        code = "from made.kernels.calls import doubled; print(doubled(7))"
        seen.append(run(code, EXTRA=str(tmp_path / "code"), NUMBA_CACHE_DIR=str(tmp_path / "cache")))
    assert seen == ["14", "21"]
    assert len(list((tmp_path / "cache").iterdir())) == 2
