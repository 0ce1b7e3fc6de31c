"""llm-foundry's loaders with the configuration of its page, and a tiny model that Composer trains."""

from typing import Any

from tests.export.readers.inside.trainers import Run, model_of, tokenizer_of
from tests.export.readers.inside.vision import import_torchvision


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Trains with `loader`, for one epoch; the other keys are those of `trainers`."""
    import_torchvision()
    from composer import Trainer
    from composer.core import Callback
    from composer.models import HuggingFaceModel
    from llmfoundry.data.dataloader import build_dataloader
    from torch.optim import AdamW

    tokenizer = tokenizer_of(given["tokenizer"], None)
    tokenizer.padding_side = "left" if given["loader"]["name"] == "finetuning" else "right"
    model = model_of(len(tokenizer), 320 if given.get("pairs") else 32)  # Composer refuses a smaller vocabulary.
    run = Run(model, pairs=given.get("pairs", False))

    class Losses(Callback):  # type: ignore[misc]
        def after_loss(self, state: Any, logger: Any) -> None:
            run.learn(state.loss)
            run.losses.append(float(state.loss))

    Trainer(
        model=HuggingFaceModel(model, tokenizer, use_logits=True),
        train_dataloader=build_dataloader(given["loader"], tokenizer, 1),
        optimizers=AdamW(model.parameters(), lr=3e-3),
        max_duration="1ep",
        device="cpu",
        precision="fp32",
        callbacks=[Losses()],
        seed=7,
        progress_bar=False,
    ).fit()
    return run.found()
