"""Megatron-LM's dataset of conversations (`--sft`), which the package of megatron-core 0.19.2 has.

`megatron.training` as a whole imports what needs CUDA, so the module of the dataset is imported without its parents.
"""

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.export.readers.inside.tiny_model import IGNORED, losses

warnings.simplefilter("ignore")


def answer(given: dict[str, Any]) -> Any:
    """Rows of a file, and losses; None where there is no such dataset.

    given: `file`, `tokenizer` (a tokenizer.json), `template`, `special` tokens by name, `length`, `rows`.
    """
    core = find_spec("megatron.core")
    assert core is not None
    assert core.origin is not None
    parent = ModuleType("megatron.training")
    parent.__path__ = [str(Path(core.origin).parents[1] / "training")]
    sys.modules[parent.__name__] = parent
    if find_spec("megatron.training.datasets") is None:
        return None
    import torch
    from megatron.core.datasets.gpt_dataset import GPTDatasetConfig
    from megatron.core.datasets.utils import Split
    from megatron.core.tokenizers import MegatronTokenizer
    from megatron.training.datasets.sft_dataset import SFTDataset
    from transformers import PreTrainedTokenizerFast

    saved = PreTrainedTokenizerFast(tokenizer_file=given["tokenizer"], **given["special"])
    saved.chat_template = given["template"]
    saved.save_pretrained("saved-tokenizer")
    tokenizer = MegatronTokenizer.from_pretrained(
        tokenizer_path="saved-tokenizer", metadata_path={"library": "sft"}, prompt_format="default"
    )
    config = GPTDatasetConfig(
        random_seed=1,
        sequence_length=given["length"],
        blend_per_split=[([given["file"]], None), None, None],
        tokenizer=tokenizer,
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=False,
        create_attention_mask=False,
        context_parallel_size=1,
    )
    low = SFTDataset.build_low_level_dataset(given["file"], config)
    numbers = torch.arange(len(low)).numpy()
    dataset = SFTDataset(low, given["file"], numbers, len(low), Split.train, config)
    rows = [dataset[number] for number in range(given["rows"])]
    batch = {
        "inputs": torch.stack([row["tokens"] for row in rows]),
        "labels": torch.stack([row["labels"].masked_fill(row["loss_mask"] == 0, IGNORED) for row in rows]),
    }
    names = ("tokens", "labels", "loss_mask", "position_ids", "cu_seqlens")
    return {"rows": [{name: row[name].tolist() for name in names} for row in rows], "losses": losses([batch])}
