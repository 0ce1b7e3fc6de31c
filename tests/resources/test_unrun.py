"""Kernels that a process compiles for others do what they do when numba compiles them for itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import TOP

KERNELS = [
    "resources.formats.kernels.planes.split_planes",  # no other function
    "corpus_assets.dedup.kernels.compare.agreeing",  # one that is merged into it
    "corpus_assets.dedup.kernels.forest.merge",
    "corpus_assets.dedup.kernels.lanes.hash_shingles",  # other kernels, in other files
    "corpus_assets.packing.kernels.bins.best_fit",  # arrays of its own
]
USE = """
import sys
import numpy as np
from resources.kernels.compiling import missing
from resources.kernels.jit import compile_seconds
from corpus_assets.dedup.kernels.compare import agreeing
from corpus_assets.dedup.kernels.forest import merge
from resources.formats.kernels.planes import split_planes

assert missing(sys.argv[1:]) == []
values = np.arange(-500, 500, dtype=np.int32) * 7_654_321
planes = np.zeros((4, 1003), np.uint8)
bits = split_planes(values, planes, 3)
assert bits == np.bitwise_or.reduce(values.view(np.uint32))
assert (planes[:, 3:].T.copy().view(np.int32).ravel() == values).all() and not planes[:, :3].any()
random = np.random.default_rng(7)
rows, sketches = random.integers(0, 2**63, (50, 9), np.uint64), random.integers(0, 2**63, (20, 8), np.uint64)
others, out = random.integers(0, 20, 50), np.zeros(50, np.uint16)
agreeing(rows, 1, sketches, others, out)
differ = np.unpackbits((rows[:, 1:] ^ sketches[others]).view(np.uint8), axis=1).sum(1)
assert (out == 512 - differ).all()
parents = np.arange(10, dtype=np.uint32)
merge(parents, np.array([[3, 4], [9, 4], [0, 1], [8, 1]], np.uint32))
assert compile_seconds() == 0
"""


@pytest.mark.slow
def test_kernels_that_were_compiled_for_others_are_found_and_right(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(TOP)}
    compiling = subprocess.Popen(
        [sys.executable, "-P", "-m", "resources.kernels.compiling"], stdin=subprocess.PIPE, env=environment, cwd=TOP
    )
    assert compiling.stdin is not None
    compiling.stdin.write(" ".join(KERNELS).encode() + b"\n")
    compiling.stdin.flush()
    assert compiling.wait(240) == 0
    done = subprocess.run(
        [sys.executable, "-c", USE, *KERNELS], env=environment, cwd=TOP, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
