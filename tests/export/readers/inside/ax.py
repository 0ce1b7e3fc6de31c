"""axolotl with the configuration of its page, and a tiny model in a folder."""

from pathlib import Path
from typing import Any

from tests.export.readers.inside.trainers import Run, model_of, tokenizer_of

OF_A_RUN = {
    "base_model": "model",
    "output_dir": "out",
    "dataset_prepared_path": "prepared",
    "micro_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "num_epochs": 1,
    "optimizer": "adamw_torch",
    "learning_rate": 3e-3,
    "lr_scheduler": "constant",
    "use_cpu": True,
    "bf16": False,
    "fp16": False,
    "save_strategy": "no",
    "seed": 7,
}
"""What the page leaves open about a run."""


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Trains with `settings`, after `code` if there is any; the other keys are those of `trainers`."""
    import transformers
    import yaml

    tokenizer = tokenizer_of(given["tokenizer"], None)
    tokenizer.save_pretrained("model")
    model_of(given.get("vocabulary") or len(tokenizer)).save_pretrained("model")
    exec(given.get("code", ""), {})
    Path("axolotl.yaml").write_text(yaml.safe_dump({**OF_A_RUN, **given["settings"]}), encoding="utf-8")

    from axolotl import train
    from axolotl.cli.train import do_cli

    runs: list[Run] = []
    load = train.setup_model_and_tokenizer

    def loaded(*words: Any) -> Any:
        model, *rest = load(*words)
        runs.append(Run(model, pairs=given.get("pairs", False)))
        runs[0].watch(transformers.Trainer)
        return (model, *rest)

    train.setup_model_and_tokenizer = loaded
    do_cli("axolotl.yaml")
    return runs[0].found()
