"""torchtitan's dataloader over `tokens.bin`, with the dataset that the page shows."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.export.exported import encoded, exported, tokenizer_of
from tests.export.masked.rules import IGNORED
from tests.export.readers.environments import block, blocks, needs, run
from tests.export.readers.trained import falls

NAME = "torchtitan"
LENGTH, BATCH, RANKS = 32, 2, 2


def rows_of(documents: list[list[int]]) -> list[dict[str, list[int]]]:
    """Rows of a stream of documents: ids, the ids after them in the same document, and places in it."""
    ids = [id_ for document in documents for id_ in document]
    owners = [number for number, document in enumerate(documents) for _ in document]
    found = []
    for start in range(0, (len(ids) - 1) // LENGTH * LENGTH, LENGTH):
        places = range(start, start + LENGTH)
        labels = [ids[at + 1] if owners[at + 1] == owners[at] else IGNORED for at in places]
        positions: list[int] = []
        for at in places:
            positions.append(positions[-1] + 1 if at > start and owners[at] == owners[at - 1] else 0)
        found.append({"input": ids[start : start + LENGTH], "labels": labels, "positions": positions})
    return found


@pytest.mark.parametrize("name", [needs(NAME)])
def test_every_rank_gets_its_rows_epoch_after_epoch_and_goes_on_after_a_checkpoint(tmp_path: Path, name: str) -> None:
    corpus = exported(tmp_path, *yaml.safe_load(blocks(NAME, "yaml")[0])["datasets"])
    eos = tokenizer_of(corpus).eos_id
    assert eos is not None
    rows = rows_of([[*ids, eos] for of in encoded(corpus).values() for ids in of])
    each = len(rows) // RANKS
    given = {"block": block(NAME, "python", "TokenRows"), "length": LENGTH, "batch": BATCH, "ranks": RANKS}
    found = run(name, "titan", {**given, "batches": each // BATCH + 4}, tmp_path)
    for rank, of_rank in enumerate(found["ranks"]):
        own = rows[rank : each * RANKS : RANKS] * 2
        batches = [own[at : at + BATCH] for at in range(0, BATCH * len(of_rank["batches"]), BATCH)]
        assert of_rank["batches"] == [columns(batch) for batch in batches]
        assert of_rank["after_three"] == columns(batches[3])
    assert falls(found["losses"])
    assert not found["sources"], "this version has the classes of the main branch: run the last block of the page too"


def columns(rows: list[dict[str, list[int]]]) -> dict[str, Any]:
    """Rows as a batch has them."""
    return {name: [row[name] for row in rows] for name in rows[0]}
