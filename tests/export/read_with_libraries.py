"""Reads files with the libraries of the trainers; run by the interpreter that has them (`make test-readers`).

Takes a JSON list of [format, folder, ids per block]; prints for each the ids of every row, as JSON.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

Rows = list[list[int]]


def read_mds(folder: Path) -> Rows:
    """Samples of an MDS dataset, fetched as from a remote place; checksums are compared if there are any."""
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    hashes = json.loads((folder / "index.json").read_text())["shards"][0]["hashes"]
    with tempfile.TemporaryDirectory() as scratch:
        clean_stale_shared_memory()
        options = {"shuffle": False, "batch_size": 1, "validate_hash": hashes[0] if hashes else None}
        dataset = StreamingDataset(remote=str(folder), local=f"{scratch}/local", **options)
        return [dataset[number]["tokens"].tolist() for number in range(len(dataset))]


def read_litdata(folder: Path, block: int) -> Rows:
    """Blocks of a litdata dataset; it may remove what it has read, so it gets a copy."""
    from litdata import StreamingDataset, TokensLoader

    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / "copy")
        dataset = StreamingDataset(str(copy), item_loader=TokensLoader(block_size=block))
        return [dataset[number].tolist() for number in range(len(dataset))]


def read_parquet(folder: Path) -> Rows:
    """Rows of a folder, which `datasets` finds by its card alone."""
    from datasets import load_dataset

    with tempfile.TemporaryDirectory() as scratch:
        found = load_dataset(str(folder), cache_dir=scratch)
        assert list(found) == ["train"], list(found)
        return [list(row) for row in found["train"]["input_ids"]]


def read_arrow(folder: Path) -> list[Any]:
    """Rows of a folder that `datasets` saved, or might have."""
    from datasets import load_from_disk

    return list(load_from_disk(str(folder)))


def read_masked_parquet(folder: Path) -> list[Any]:
    """Rows of a folder, with all columns."""
    from datasets import load_dataset

    with tempfile.TemporaryDirectory() as scratch:
        return list(load_dataset(str(folder), cache_dir=scratch, split="train"))


def read_turns(folder: Path) -> list[Any]:
    """Samples of a column of JSON."""
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    with tempfile.TemporaryDirectory() as scratch:
        clean_stale_shared_memory()
        dataset = StreamingDataset(remote=str(folder), local=f"{scratch}/local", shuffle=False, batch_size=1)
        return [dataset[number]["turns"] for number in range(len(dataset))]


def read(name: str, folder: Path, block: int) -> list[Any]:
    """The rows of a folder in a format."""
    if name == "litdata":
        return read_litdata(folder, block)
    readers = {
        "mds": read_mds,
        "parquet": read_parquet,
        "masked arrow": read_arrow,
        "masked parquet": read_masked_parquet,
        "masked mds": read_turns,
    }
    return readers[name](folder)


if __name__ == "__main__":
    print(json.dumps([read(name, Path(folder), block) for name, folder, block in json.loads(sys.argv[1])]))
