"""torchtitan's dataloader over the dataset of the page, and what of torchtitan is there at all."""

from importlib.util import find_spec
from typing import Any

from tests.export.readers.inside.tiny_model import losses


def answer(given: dict[str, Any]) -> Any:
    """Batches of each rank over more than one epoch, what follows a checkpoint, and losses.

    given: `block`, code that makes `config`; `length`, `batch`, `ranks`, `batches`.
    """
    found: dict[str, Any] = {"__name__": __name__}
    exec(given["block"], found)

    def built(rank: int) -> Any:
        sizes = {"seq_len": given["length"], "local_batch_size": given["batch"]}
        return found["config"].build(dp_world_size=given["ranks"], dp_rank=rank, tokenizer=None, **sizes)

    ranks = []
    for rank in range(given["ranks"]):
        loader = built(rank)
        batches, states = [], []
        for _, batch in zip(range(given["batches"]), loader, strict=False):
            batches.append(batch)
            states.append(loader.state_dict())
        again = built(rank)
        again.load_state_dict(states[2])
        ranks.append({"batches": [plain(one) for one in batches], "after_three": plain(next(iter(again)))})
        inputs, labels = batches[0]
    return {
        "ranks": ranks,
        "losses": losses([{"inputs": inputs["input"], "labels": labels}]),
        "sources": find_spec("torchtitan.components.data") is not None,
    }


def plain(batch: Any) -> dict[str, Any]:
    """A batch as lists."""
    inputs, labels = batch
    return {"input": inputs["input"].tolist(), "positions": inputs["positions"].tolist(), "labels": labels.tolist()}
