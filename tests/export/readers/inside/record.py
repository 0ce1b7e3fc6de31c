"""Writes `recorded/` with the libraries of the trainers, in an environment that has them both.

The ids count up from 100, cut as `test_recorded.py` says. Made with mosaicml-streaming 0.13.0 and litdata 0.2.76.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from litdata.streaming.item_loader import TokensLoader
from litdata.streaming.writer import BinaryWriter
from streaming import MDSWriter

FOLDER = Path(__file__).resolve().parents[2] / "recorded"


def arrays(lengths: Sequence[int]) -> list[Any]:
    """Arrays of these lengths: 100, 101, 102 ..., one after another."""
    return np.split(np.arange(100, 100 + sum(lengths), dtype=np.int32), np.cumsum(lengths)[:-1])


def record_mds(name: str, column: str, lengths: Sequence[int], **options: Any) -> None:
    """Records an MDS dataset."""
    with MDSWriter(out=str(FOLDER / name), columns={"tokens": column}, **options) as writer:
        for ids in arrays(lengths):
            writer.write({"tokens": ids})


def record_litdata() -> None:
    """Records a litdata dataset of three chunks."""
    writer = BinaryWriter(str(FOLDER / "litdata"), chunk_size=17 * 4, item_loader=TokensLoader(block_size=17))
    for number, ids in enumerate(arrays([17] * 10)):
        writer.add_item(number, torch.from_numpy(ids))
    writer.done()
    writer.merge(1)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    sizes = [1, 255, 256, 65535, 65536, 7]
    record_mds("mds_windows", "ndarray:int32", [16] * 20 + [5], size_limit=1024)
    record_mds("mds_fixed", "ndarray:int32:16", [16] * 20, size_limit=1024)
    record_mds("mds_documents", "ndarray:int32", sizes, size_limit=300_000, hashes=["sha1", "sha256", "xxh64"])
    for shard in (FOLDER / "mds_documents").glob("*.mds"):
        shard.unlink()  # The index has their checksums.
    record_litdata()
