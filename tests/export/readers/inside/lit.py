"""`litgpt pretrain` as its page says, with a model of the same name that is tiny; and blocks of code without LitGPT."""

import sys
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
    "--train.lr_warmup_steps": "0",
    "--train.min_lr": "0.003",
    "--optimizer": '{"class_path": "torch.optim.AdamW", "init_args": {"lr": 0.003}}',
}
"""What the page leaves open about a run: steps that a tiny model notices, on this machine."""


def train(words: list[str], vocabulary: int, ids: int) -> dict[str, Any]:
    """Runs a command for this many ids; what reaches the model and its loss, and the losses of all steps."""
    import_torchvision()
    import torch
    from litgpt import config, pretrain
    from litgpt.__main__ import main

    found: dict[str, Any] = {"batches": [], "losses": []}
    config.name_to_config[words[2]] |= {**TINY, "vocab_size": vocabulary, "padded_vocab_size": vocabulary}
    forward, loss_of = pretrain.GPT.forward, pretrain.chunked_cross_entropy

    def given(self: Any, idx: Any, *more: Any, **options: Any) -> Any:
        if torch.is_grad_enabled() and not idx.is_meta:
            found["batches"].append({"input_ids": idx.tolist()})
        return forward(self, idx, *more, **options)

    def compared(logits: Any, targets: Any, *more: Any, **options: Any) -> Any:
        loss = loss_of(logits, targets, *more, **options)
        if torch.is_grad_enabled() and not targets.is_meta:
            found["batches"][-1]["targets"] = targets.tolist()
            found["losses"].append(float(loss))
        return loss

    pretrain.GPT.forward, pretrain.chunked_cross_entropy = given, compared
    options = {**OF_A_RUN, "--train.max_tokens": str(ids)}
    sys.argv = [*words, *(word for option in options.items() for word in option)]
    main()
    return found


def answer(given: dict[str, Any]) -> Any:
    """`words`, a command, with the `vocabulary` and `ids` of its run; or `code`, a block that makes a `loader`."""
    if "words" in given:
        return train(given["words"], given["vocabulary"], given["ids"])
    made: dict[str, Any] = {}
    exec(given["code"], made)
    return [batch.tolist() for batch in made["loader"]]
