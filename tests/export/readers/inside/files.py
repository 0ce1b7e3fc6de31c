"""Files read by the libraries that the formats are made for, whole and in order, without a trainer."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.export.readers.inside.vision import import_torchvision

Rows = list[Any]


def read_mds(folder: Path) -> Rows:
    """Samples of an MDS dataset, fetched as from a remote place; checksums are compared if there are any."""
    import_torchvision()
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


def read_arrow(folder: Path) -> Rows:
    """Rows of a folder that `datasets` saved, or might have."""
    from datasets import load_from_disk

    return list(load_from_disk(str(folder)))


def read_masked_parquet(folder: Path) -> Rows:
    """Rows of a folder, with all columns."""
    from datasets import load_dataset

    with tempfile.TemporaryDirectory() as scratch:
        return list(load_dataset(str(folder), cache_dir=scratch, split="train"))


def read_turns(folder: Path) -> Rows:
    """Samples of a column of JSON."""
    import_torchvision()
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    with tempfile.TemporaryDirectory() as scratch:
        clean_stale_shared_memory()
        dataset = StreamingDataset(remote=str(folder), local=f"{scratch}/local", shuffle=False, batch_size=1)
        return [dataset[number]["turns"] for number in range(len(dataset))]


def read_rows(folder: Path) -> Rows:
    """Rows of a folder of texts, without the keys that hold nothing."""
    from datasets import load_dataset

    return [
        {key: value for key, value in row.items() if value is not None}
        for row in load_dataset(str(folder), split="train")
    ]


READERS: dict[str, Callable[..., Rows]] = {
    "mds": read_mds,
    "litdata": read_litdata,
    "parquet": read_parquet,
    "masked arrow": read_arrow,
    "masked parquet": read_masked_parquet,
    "masked mds": read_turns,
    "text": read_rows,
}


def answer(given: list[list[Any]]) -> list[Rows]:
    """The rows of folders. given: a format, a folder, and more for its reader, such as the ids per block."""
    return [READERS[name](Path(folder), *more) for name, folder, *more in given]
