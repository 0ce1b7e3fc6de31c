"""Files that trainers read as plain arrays: blocks of pages with numpy, and losses over what they read."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.export.readers.inside.tiny_model import losses

LENGTH, ROWS = 32, 8


def answer(given: dict[str, Any]) -> Any:
    """What a block reads. given: `block`, its code; `names` of what it makes; `learn`, the one that is learned.

    Or, for shards of llm.c: `pattern`, and for NeMo Automodel `arguments` of its dataset and `rows`.
    """
    if "arguments" in given:
        return of_automodel(given["arguments"], given["rows"])
    if "pattern" in given:
        return [of_shard(path) for path in sorted(map(str, Path().glob(given["pattern"])))]
    found: dict[str, Any] = {}
    exec(given["block"], found)
    read = {
        name: [np.asarray(one).tolist() for one in found[name]]
        if isinstance(found[name], list)
        else np.asarray(found[name]).tolist()
        for name in given["names"]
    }
    return {**read, "losses": of_stream(np.asarray(found[given["learn"]]))}


def of_stream(ids: Any) -> list[float]:
    """Losses over windows of a stream, each with the id after each of its ids."""
    count = min(ROWS, (len(ids) - 1) // LENGTH)
    places = np.arange(count)[:, None] * LENGTH + np.arange(LENGTH)
    return losses([{"inputs": ids[places].astype(np.int64), "labels": ids[places + 1].astype(np.int64)}])


def of_shard(path: str) -> dict[str, Any]:
    """The ids of a shard, by the rules of llm.c and modded-nanogpt: magic, version, a count that fits the size."""
    header = np.fromfile(path, "<i4", 256)
    assert (header[0], header[1]) == (20240520, 1), f"{path}: {header[:2]}"
    ids = np.fromfile(path, "<u2", offset=1024)
    assert len(ids) == header[2], f"{path}: {len(ids)}, and its header says {header[2]}"
    return {"name": Path(path).name, "ids": ids.tolist()}


def of_automodel(arguments: dict[str, Any], rows: int) -> Any:
    """The first rows of NeMo Automodel's dataset, and losses.

    Its module is imported without those beside it, which need many packages more.
    """
    top = find_spec("nemo_automodel")
    assert top is not None
    assert top.origin is not None
    name = "nemo_automodel.components.datasets.llm"
    parent = ModuleType(name)
    parent.__path__ = [str(Path(top.origin).parent / "components" / "datasets" / "llm")]
    sys.modules[name] = parent
    from nemo_automodel.components.datasets.llm.nanogpt_dataset import NanogptDataset

    found = [row for _, row in zip(range(rows), NanogptDataset(**arguments), strict=False)]
    batch = {"inputs": [row["input_ids"] for row in found], "labels": [row["labels"] for row in found]}
    return {"rows": found, "losses": losses([batch])}
