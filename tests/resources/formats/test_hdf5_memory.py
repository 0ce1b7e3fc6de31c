"""A machine without memory for what HDF5 reads is told as that."""

import subprocess
import sys

import pytest

_WITHOUT_MEMORY = """if True:
    import io, resource
    from pathlib import Path
    import h5py
    import numpy as np
    from resources.formats.hdf5.reader import read_hdf5

    file = io.BytesIO()
    with h5py.File(file, "w") as written:
        rows = np.random.default_rng(1).integers(0, 5000, (64, 3, 1 << 14)).astype(np.int32)
        written.create_dataset("data", data=rows, chunks=rows.shape, compression="gzip", compression_opts=1)
        written.attrs["n_examples"] = 64
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 1_000_000, resource.RLIM_INFINITY))
    try:
        with read_hdf5(file) as rows:
            rows[0:1]
    except MemoryError:
        print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no memory of a process")
def test_a_machine_without_memory_for_a_chunk_of_others_is_no_damage() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_MEMORY], capture_output=True, text=True, check=False)
    assert done.stdout == "no memory\n", done.stderr
