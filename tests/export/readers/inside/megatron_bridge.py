"""Megatron-Bridge's dataset of packed rows in Parquet.

The package as a whole cannot be imported without CUDA: `megatron.bridge` and `megatron.bridge.data` import
transformer_engine. The modules of the reader do not need it, so they are imported without what their parents import.
"""

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.export.readers.inside.tiny_model import IGNORED, losses

warnings.simplefilter("ignore")

PARENTS = ("bridge", "bridge.data", "bridge.training", "bridge.training.tokenizers")


def reader() -> Any:
    """The class of the dataset."""
    core = find_spec("megatron.core")
    assert core is not None
    assert core.origin is not None
    for name in PARENTS:
        parent = ModuleType(f"megatron.{name}")
        parent.__path__ = [str(Path(core.origin).parents[1] / name.replace(".", "/"))]
        sys.modules[parent.__name__] = parent
    from megatron.bridge.data.packing.parquet import GPTSFTPackedParquetDataset

    return GPTSFTPackedParquetDataset


def answer(given: dict[str, Any]) -> Any:
    """What each row of a folder is collated to, and losses; None where Megatron-Bridge is not installed.

    given: `folder`, `length` in positions, `eos`.
    """
    if find_spec("megatron.bridge") is None:
        return None
    tokenizer = SimpleNamespace(eos_id=given["eos"], eod=given["eos"], bos_id=None)
    options = {"max_seq_length": given["length"], "pad_to_max_length": True, "prompt_template": "{text} {output}"}
    dataset = reader()(given["folder"], tokenizer, label_key="output", **options)
    rows = [dataset.collate_fn([dataset[number]]) for number in range(len(dataset))]
    learned = [row["labels"].masked_fill(row["loss_mask"] == 0, IGNORED) for row in rows]
    batches = [{"inputs": row["tokens"], "labels": one} for row, one in zip(rows, learned, strict=True)]
    names = ("tokens", "labels", "loss_mask", "position_ids")
    return {
        "rows": [
            {**{name: row[name][0].tolist() for name in names}, "count": int(row["token_count"][0])} for row in rows
        ],
        "losses": losses(batches[:1]),
    }
