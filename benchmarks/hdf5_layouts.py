"""The cost of the layout of an HDF5 file, compared with Cerebras' and large chunks; see `benchmarks.tokenize`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import h5py
import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from benchmarks.turns import best
from resources.formats.hdf5.layout import LM_FEATURES
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.hdf5.writer import write_hdf5

RANDOM_ROWS = 400
LARGE_CHUNK = 3 << 15


def write_ours(rows: NDArray[np.int32], path: Path) -> None:
    with path.open("w+b") as file:
        write_hdf5(file, [rows], {}, features=LM_FEATURES, sequence_length=rows.shape[-1])


def write_like_cerebras(rows: NDArray[np.int32], path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=rows, chunks=(1, *rows.shape[1:]), compression="gzip")
        file.attrs["n_examples"] = len(rows)


def write_large_chunks(rows: NDArray[np.int32], path: Path) -> None:
    """Rows in chunks of 384 KiB, each a plain stream of ISA-L's first level."""
    per_chunk = LARGE_CHUNK // rows[0].size
    with h5py.File(path, "w") as file:
        options = {"chunks": (per_chunk, *rows.shape[1:]), "shuffle": True, "compression": 1}
        data = file.create_dataset("data", shape=rows.shape, dtype="<i4", **options)
        for first in range(0, len(rows), per_chunk):
            chunk = np.zeros(data.chunks, np.int32)
            chunk[: len(rows) - first] = rows[first : first + per_chunk]
            planes = np.ascontiguousarray(chunk.view(np.uint8).reshape(-1, 4).T)
            data.id.write_direct_chunk((first, 0, 0), isal_zlib.compress(planes.data, 1))
        file.attrs["n_examples"] = len(rows)


def read_single_rows(path: Path, numbers: Sequence[int]) -> None:
    with h5py.File(path) as file:
        data = file["data"]
        for number in numbers:
            data[number]


def read_in_order(path: Path) -> None:
    with path.open("rb") as raw, read_hdf5(raw) as rows:
        for _ in rows.blocks():
            pass


def read_in_order_by_h5py(path: Path) -> None:
    with h5py.File(path) as file:
        data = file["data"]
        for first in range(0, len(data), 64):
            data[first : first + 64]


def layouts(rows: NDArray[np.int32], folder: Path, rounds: int) -> dict[str, float]:
    """Time per random row, time of all rows in order and size, of three layouts in one run."""
    files = {name: folder / f"{name}.h5" for name in ("ours", "cerebras", "large_chunks")}
    write_ours(rows, files["ours"])
    write_like_cerebras(rows, files["cerebras"])
    write_large_chunks(rows, files["large_chunks"])
    numbers = np.random.default_rng(0).permutation(len(rows))[:RANDOM_ROWS].tolist()
    found: dict[str, float] = {}
    for what, read in {
        "random_row_us": lambda path: read_single_rows(path, numbers),
        "in_order_ms": read_in_order,
        "in_order_h5py_ms": read_in_order_by_h5py,
    }.items():
        read(files["ours"])  # Loads the compiled kernels.
        per = len(numbers) / 1e6 if what == "random_row_us" else 1e-3
        seconds = best({name: partial(read, path) for name, path in files.items()}, rounds)
        found |= {f"hdf5_{what}_{name}": round(taken / per, 1) for name, taken in seconds.items()}
    return found | {f"hdf5_mb_{name}": round(path.stat().st_size / 1e6, 2) for name, path in files.items()}
