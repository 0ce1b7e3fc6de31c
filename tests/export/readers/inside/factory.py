"""LLaMA-Factory with the configuration of its page, and a tiny model in a folder."""

from typing import Any

from tests.export.readers.inside.trainers import Run, model_of, tokenizer_of
from tests.export.readers.inside.vision import import_torchaudio, import_torchvision

OF_A_RUN = {
    "stage": "sft",
    "do_train": True,
    "finetuning_type": "full",
    "model_name_or_path": "model",
    "template": "empty",
    "output_dir": "out",
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "num_train_epochs": 1,
    "learning_rate": 3e-3,
    "lr_scheduler_type": "constant",
    "use_cpu": True,
    "report_to": "none",
    "save_strategy": "no",
    "seed": 7,
    "disable_gradient_checkpointing": True,  # Gradients of single places are asked for.
}
"""What the page leaves open about a run."""


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Trains with `settings`; the other keys are those of `trainers`."""
    import_torchvision()
    import_torchaudio()
    from llamafactory.train import tuner
    from llamafactory.train.sft import workflow

    tokenizer = tokenizer_of(given["tokenizer"], None)
    tokenizer.save_pretrained("model")
    model_of(given.get("vocabulary") or len(tokenizer)).save_pretrained("model")
    runs: list[Run] = []
    load = workflow.load_model

    def loaded(*words: Any, **options: Any) -> Any:
        model = load(*words, **options)
        runs.append(Run(model, pairs=given.get("pairs", False)))
        runs[0].watch(workflow.CustomSeq2SeqTrainer)
        return model

    workflow.load_model = loaded
    tuner.run_exp({**OF_A_RUN, **given["settings"]})
    return runs[0].found()
