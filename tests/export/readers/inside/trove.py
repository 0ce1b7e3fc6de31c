"""datatrove's dataset of a folder, as the block of the page makes it."""

from typing import Any

import torch

from tests.export.readers.inside.tiny_model import losses


def answer(given: dict[str, Any]) -> Any:
    """Rows and places of all windows, and losses. given: `block`, code that makes `dataset`."""
    found: dict[str, Any] = {}
    exec(given["block"], found)
    dataset = found["dataset"]
    rows = [dataset[number] for number in range(len(dataset))]
    ids = torch.stack([row["input_ids"] for row in rows[:8]])
    return {
        "rows": [row["input_ids"].tolist() for row in rows],
        "positions": [row["positions"].tolist() for row in rows],
        "losses": losses([{"inputs": ids[:, :-1], "labels": ids[:, 1:]}]),
    }
