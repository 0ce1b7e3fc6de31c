"""OLMo-core's datasets and its loader, as blocks of the page make them."""

from typing import Any

import torch
from olmo_core.data import NumpyDataLoaderConfig
from olmo_core.data.utils import get_labels

from tests.export.readers.inside.tiny_model import losses


def answer(given: dict[str, Any]) -> Any:
    """What a block reads. given: `block`, its code, which makes `loader` or `packed`."""
    found: dict[str, Any] = {}
    exec(given["block"], found)
    return of_loader(found) if "loader" in found else of_packed(found["packed"])


def of_loader(found: dict[str, Any]) -> dict[str, Any]:
    """All windows, those of an epoch by number, the error of a loader without an epoch, and losses."""
    dataset, loader = found["dataset"], found["loader"]
    loader.reshuffle(3)
    batches = list(loader)
    try:
        next(iter(NumpyDataLoaderConfig(global_batch_size=loader.global_batch_size, seed=0).build(dataset)))
    except RuntimeError as error:
        said = str(error)
    return {
        "rows": found["rows"],
        "windows": [dataset[number]["input_ids"].tolist() for number in range(len(dataset))],
        "epoch": [[batch["index"].tolist(), batch["input_ids"].tolist()] for batch in batches],
        "without": said,
        "losses": losses([{"inputs": batch["input_ids"], "labels": get_labels(batch)} for batch in batches[:1]]),
    }


def of_packed(dataset: Any) -> dict[str, Any]:
    """Rows with labels by OLMo-core's own rule and ids of each document, and losses."""
    rows = [dataset[number] for number in range(len(dataset))]
    if not rows:
        return {"rows": []}
    batch = {name: torch.stack([row[name] for row in rows]) for name in ("input_ids", "label_mask")}
    labels = get_labels(batch)
    return {
        "rows": [
            {"ids": row["input_ids"].tolist(), "labels": own.tolist(), "lengths": row["doc_lens"].tolist()}
            for row, own in zip(rows, labels, strict=True)
        ],
        "losses": losses([{"inputs": batch["input_ids"][:4], "labels": labels[:4]}]),
    }
