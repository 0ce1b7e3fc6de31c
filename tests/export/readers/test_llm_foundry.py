"""llm-foundry and its StreamingDataset, as their page says: what reaches the model, and what is learned of it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build.small import opened
from tests.export.exported import folder_of, manifest_of, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import LEARNED, batch_rows, falls, golden, rows_of, windows_of

PAGE = "llm-foundry"
WINDOWS: dict[str, Any] = yaml.safe_load(block(PAGE, "yaml", "name: text"))["train_loader"]
MASKED: dict[str, Any] = yaml.safe_load(block(PAGE, "yaml", "name: finetuning"))["train_loader"]
environment = pytest.mark.parametrize("name", [needs("llm-foundry")])
Corpora = Callable[[str], Path]
SHORT = {"text": 2048, "finetuning": 512}
"""To how many ids samples are padded: more than any of them has."""


def given(folder: Path, loader: dict[str, Any]) -> dict[str, Any]:
    """What a run is given: a loader of the page with fewer workers and less padding, and the tokenizer of a corpus."""
    dataset = {**loader["dataset"], "max_seq_len": SHORT[loader["name"]]}
    loader = {**loader, "dataset": dataset, "num_workers": 1}
    return {"loader": loader, "tokenizer": str(folder / "corpus/tokenizer/tokenizer.json")}


@environment
def test_every_window_reaches_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "foundry", given(folder, WINDOWS), folder)
    assert rows_of(found["batches"]) == rows_of(found["batches"], "labels") == sorted(windows_of(folder, 2048))
    assert falls(found["losses"])


@pytest.mark.parametrize("name", [needs("streaming"), needs("llm-foundry")])
def test_every_window_is_read_without_llm_foundry(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    rows = run(name, "mosaic", {"code": block(PAGE, "python", "StreamingDataset")}, folder)
    assert rows == windows_of(folder, 2048)


def unpadded(batches: list[dict[str, Any]]) -> Iterator[dict[str, list[int]]]:
    """The rows of batches, which are padded on the left."""
    for row in batch_rows(batches):
        length = sum(row["attention_mask"])
        yield {key: values[-length:] for key, values in row.items()}


@environment
def test_what_is_learned_is_that_of_hdf5_and_the_end(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "foundry", given(folder, MASKED), folder)
    learned, corpus = rules.flattening(unpadded(found["batches"])), opened(folder)
    eos = tokenizer_of(corpus).eos_id
    ends = Counter({pair: count for pair, count in learned.items() if pair[1] == eos})
    assert learned - ends == of_hdf5(folder, ORACLE)
    assert ends.total() == json.loads((folder_of(folder, "sft") / "manifest.json").read_text())["documents"]
    assert manifest_of(corpus, "sft")["documents_without_eos"] == ends.total()
    assert falls(found["losses"])


@environment
def test_the_golden_pack(corpus_of: Corpora, tmp_path: Path, name: str) -> None:
    folder = corpus_of(PAGE)
    eos = int(tokenizer_of(opened(folder)).eos_id or 0)
    found = golden(name, "foundry", given(folder, MASKED), tmp_path, "sft", format="mds")
    assert found == LEARNED + rules.Pairs({((11, 12, 13), eos): 1, ((21, 22, 23), eos): 1})
