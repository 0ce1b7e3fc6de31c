"""Commands of LitGPT as its pages say, with a tiny model of the same name; and blocks of code without LitGPT."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.export.readers.inside.vision import import_torchvision

TINY = {"n_layer": 2, "n_head": 2, "n_embd": 32, "intermediate_size": 64}
OF_A_RUN = {
    "--precision": "32-true",
    "--devices": "1",
    "--seed": "7",
    "--logger_name": "csv",
    "--data.num_workers": "0",
    "--train.micro_batch_size": "1",
    "--train.global_batch_size": "1",
    "--train.lr_warmup_steps": "1",
    "--train.min_lr": "0.003",
    "--optimizer": '{"class_path": "torch.optim.AdamW", "init_args": {"lr": 0.003}}',
}
"""What the page leaves open about a run: steps that a tiny model notices, on this machine."""


def checkpoint(folder: Path, vocabulary: int) -> None:
    """Writes a model by chance, and the tokenizer of the corpus, as LitGPT downloads them."""
    import torch
    from litgpt.config import Config
    from litgpt.model import GPT
    from litgpt.utils import save_config

    config = Config.from_name("pythia-160m", **TINY, vocab_size=vocabulary, padded_vocab_size=vocabulary)
    folder.mkdir()
    torch.manual_seed(7)
    torch.save(GPT(config).state_dict(), folder / "lit_model.pth")
    save_config(config, folder)
    shutil.copy("CORPUS/tokenizer/tokenizer.json", folder)
    told = {"eos_token": "<|endoftext|>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told), encoding="utf-8")


def train(words: list[str], vocabulary: int, options: dict[str, str]) -> dict[str, Any]:
    """Runs a command with more options; what reaches the model and its loss, and the losses of all steps."""
    import_torchvision()
    import torch
    from litgpt import config, pretrain
    from litgpt.__main__ import main
    from litgpt.finetune import full

    found: dict[str, Any] = {"batches": [], "losses": []}
    if "CHECKPOINT" in words:
        checkpoint(Path("CHECKPOINT"), vocabulary)
    else:
        config.name_to_config[words[2]] |= {**TINY, "vocab_size": vocabulary, "padded_vocab_size": vocabulary}
    forward, loss_of = pretrain.GPT.forward, pretrain.chunked_cross_entropy

    def given(self: Any, idx: Any, *more: Any, **rest: Any) -> Any:
        if torch.is_grad_enabled() and not idx.is_meta:
            found["batches"].append({"input_ids": idx.tolist()})
        return forward(self, idx, *more, **rest)

    def compared(logits: Any, targets: Any, *more: Any, **rest: Any) -> Any:
        loss = loss_of(logits, targets, *more, **rest)
        if torch.is_grad_enabled() and not targets.is_meta:
            found["batches"][-1]["targets"] = targets.tolist()
            found["losses"].append(float(loss))
        return loss

    pretrain.GPT.forward = given
    pretrain.chunked_cross_entropy = full.chunked_cross_entropy = compared
    options = {**OF_A_RUN, **options}
    sys.argv = [*words, *(word for option in options.items() for word in option)]
    main()
    return found


def answer(given: dict[str, Any]) -> Any:
    """`words`, a command, with the `vocabulary` and `options` of its run; or `code`, a block that makes a `loader`."""
    if "words" in given:
        return train(given["words"], given["vocabulary"], given["options"])
    made: dict[str, Any] = {}
    exec(given["code"], made)
    return [batch.tolist() for batch in made["loader"]]
