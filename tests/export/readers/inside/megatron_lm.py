"""megatron-core's GPTDataset through its builder: a page's block, or a run that is described by its arguments."""

import hashlib
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

warnings.simplefilter("ignore")

from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder  # noqa: E402
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig  # noqa: E402
from megatron.core.datasets.utils import get_blend_from_list  # noqa: E402

from tests.export.readers.inside.tiny_model import IGNORED, losses  # noqa: E402

PARTS = ("train", "valid", "test")
OPTIONS = {"reset_position_ids": False, "reset_attention_mask": False, "create_attention_mask": False}


class Tokenizer:
    """What GPTDataset asks of a tokenizer."""

    vocab_size, eod = 50257, 50256
    unique_identifiers: Mapping[str, str] = {"class": "tests.Tokenizer", "tokenizer_path": "é/own"}


def answer(given: dict[str, Any]) -> Any:
    """What was asked for: `block`, code of a page that makes `train`; or `runs`, a list of arguments of `built`."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{Path.cwd()}/meeting-{os.getpid()}", rank=0, world_size=1
    )
    if "block" not in given:
        return [built(**run) for run in given["runs"]]
    found: dict[str, Any] = {}
    exec(given["block"], found)
    train = found["train"]
    masked = [
        (row["labels"].masked_fill(row["loss_mask"] == 0, IGNORED), row["tokens"])
        for row in map(train.__getitem__, (0, 1))
    ]
    batch = {"inputs": torch.stack([tokens for _, tokens in masked]), "labels": torch.stack([one for one, _ in masked])}
    return {
        "samples": samples_of(train, 40),
        "masks": [row["loss_mask"].tolist() for row in map(train.__getitem__, range(3))],
        "losses": losses([batch]),
    }


def built(
    words: list[str], sizes: list[int], length: int, seed: int, split: str | None, part: str, cache: str, **more: bool
) -> dict[str, Any]:
    """Builds or loads the datasets of a run; what the log says, files with digest and place, and first samples.

    more: options of the configuration.
    """
    said: list[str] = []
    logger = logging.getLogger("megatron.core.datasets")
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage().strip())  # type: ignore[method-assign]
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    blend = get_blend_from_list(words)
    data = (
        {"blend_per_split": [blend if one == part else None for one in PARTS]}
        if split is None
        else {"blend": blend, "split": split}
    )
    config = GPTDatasetConfig(
        random_seed=seed,
        sequence_length=length,
        path_to_cache=cache,
        tokenizer=Tokenizer(),
        eod_mask_loss=True,
        **data,
        **OPTIONS,
        **more,
    )
    datasets = BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()
    files = {
        file.name: [hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_ino, file.stat().st_mtime_ns]
        for file in sorted(Path(cache).iterdir())
    }
    return {
        "said": [
            line for line in said if line.startswith(("Build and save the ", "Load the ")) and line.endswith(" indices")
        ],
        "files": files,
        "samples": [samples_of(one, 20) if one is not None else None for one in datasets],
    }


def samples_of(dataset: Any, most: int) -> list[list[int]]:
    """The ids of the first samples, those of the labels too."""
    rows = map(dataset.__getitem__, range(min(most, len(dataset))))
    return [[*row["tokens"].tolist(), int(row["labels"][-1])] for row in rows]
