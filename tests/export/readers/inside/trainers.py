"""Blocks of pages about trainers of transformers and TRL, run as they stand there, with a tiny model."""

import functools
import importlib
from typing import Any

from tests.export.readers.inside.watching import Watched

OF_A_RUN = {
    "output_dir": "out",
    "use_cpu": True,
    "bf16": False,
    "learning_rate": 3e-3,
    "lr_scheduler_type": "constant",
    "num_train_epochs": 1,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "report_to": "none",
    "save_strategy": "no",
    "disable_tqdm": True,
    "seed": 7,
}
"""What a block leaves open about its run: one epoch on this machine, with steps that a tiny model notices."""
ARGUMENTS = {"transformers": ("TrainingArguments",), "trl": ("SFTConfig", "DPOConfig", "KTOConfig")}
KEPT = ("input_ids", "labels", "position_ids", "attention_mask")


def tokenizer_of(path: str, template: str | None, **special: str) -> Any:
    """The tokenizer of a corpus."""
    from transformers import PreTrainedTokenizerFast

    named = {"eos_token": "<|endoftext|>", "pad_token": "<|padding|>", **special}
    made = PreTrainedTokenizerFast(tokenizer_file=path, **named)
    made.chat_template = template
    return made


def model_of(vocabulary: int, width: int = 32) -> Any:
    """Two layers, with weights by chance."""
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    set_seed(7)
    sizes = {"hidden_size": width, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, max_position_embeddings=8192, **sizes))


def _positions(mask: Any) -> Any:
    """How many places before it each place of a row sees; mask: (rows, 1, length, length), 0 where it sees."""
    return ((mask[:, 0] == 0).sum(-1) - 1).clamp(min=0)


class Run:
    """What a trainer does: the batches that reach the model, the losses of all steps, and what is learned."""

    def __init__(self, model: Any, *, pairs: bool) -> None:
        self.batches: list[dict[str, Any]] = []
        self.losses: list[float] = []
        self.pairs: list[Any] = []
        self._watched = Watched(model.get_input_embeddings(), model.model.norm, model.lm_head.weight) if pairs else None
        model.register_forward_pre_hook(self._given, with_kwargs=True)

    def _given(self, _: Any, __: Any, given: dict[str, Any]) -> None:
        import torch

        if not torch.is_grad_enabled():  # What a trainer only compares with.
            return
        kept = {key: given[key] for key in KEPT if given.get(key) is not None}
        if kept.get("attention_mask") is not None and kept["attention_mask"].dim() == 4:
            kept["position_ids"] = _positions(kept.pop("attention_mask"))
        self.batches.append({key: values.tolist() for key, values in kept.items()})

    def learn(self, loss: Any) -> None:
        """Reads off what is learned of the batch that gave a loss, if that is asked for."""
        if self._watched:
            self.pairs += self._watched.pairs(loss)

    def watch(self, trainer: Any) -> None:
        """Adds a class of trainers to those that are watched."""
        step = trainer.training_step

        @functools.wraps(step)
        def watched(own: Any, model: Any, inputs: Any, *more: Any, **options: Any) -> Any:
            if self._watched:
                self.learn(own.compute_loss(model, own._prepare_inputs(dict(inputs))))
                self.batches.pop()  # The step gives it to the model again.
            loss = step(own, model, inputs, *more, **options)
            self.losses.append(float(loss))
            return loss

        trainer.training_step = watched

    def found(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"batches": self.batches, "losses": self.losses, "pairs": self.pairs}


def with_defaults(arguments: Any, defaults: dict[str, Any]) -> Any:
    """A class of arguments with other defaults."""

    def made(self: Any, **options: Any) -> None:
        arguments.__init__(self, **{**defaults, **options})

    return type(arguments.__name__, (arguments,), {"__init__": made})


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Runs `code`, which finds `model` and `tokenizer`.

    Optional: the path of the `tokenizer`, its `template` and `special` tokens; `run`, arguments of the run; `pairs`,
    whether they are read off; `width` and `vocabulary` of the model, and whether it is `saved`.
    """
    import transformers

    tokenizer = tokenizer_of(
        given.get("tokenizer", "CORPUS/tokenizer/tokenizer.json"), given.get("template"), **given.get("special", {})
    )
    model = model_of(given.get("vocabulary") or len(tokenizer), given.get("width", 32))
    if given.get("saved"):  # Trainers that compare with the model as it was load it again.
        model.save_pretrained("model")
        model = type(model).from_pretrained("model")
    run = Run(model, pairs=given.get("pairs", False))
    run.watch(transformers.Trainer)
    for library, names in ARGUMENTS.items():
        module = importlib.import_module(library)
        for name in names:
            setattr(module, name, with_defaults(getattr(module, name), {**OF_A_RUN, **given.get("run", {})}))
    exec(given["code"], {"model": model, "tokenizer": tokenizer})
    return run.found()
