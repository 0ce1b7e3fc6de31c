"""The Trainer of transformers, as its page says: what reaches the model, and what the model learns of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.build.small import opened
from tests.export.exported import exported, tokenizer_of
from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import LEARNED, batch_rows, falls, golden, pairs_of, rows_of, windows_of

PAGE = "hugging-face"
CODE = {
    "windows": block(PAGE, "python", "DataCollatorForLanguageModeling"),
    "positions": block(PAGE, "python", "exports/hf_positions"),
    "sft_rows": block(PAGE, "python", "exports/sft_rows"),
    "sft_documents": block(PAGE, "python", "exports/sft_documents"),
}
environment = pytest.mark.parametrize("name", [needs("hugging-face")])


@environment
@pytest.mark.parametrize("code", ["windows", "positions"])
def test_every_window_reaches_the_model(corpus_of: Callable[[str], Path], name: str, code: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "trainers", {"code": CODE[code], "run": {"per_device_train_batch_size": 1}}, folder)
    assert rows_of(found["batches"]) == rows_of(found["batches"], "labels") == sorted(windows_of(folder, 2048))
    assert falls(found["losses"])


@environment
def test_the_end_is_not_learned_where_it_pads(corpus_of: Callable[[str], Path], name: str) -> None:
    folder = corpus_of(PAGE)
    given = {"code": CODE["windows"], "special": {"pad_token": "<|endoftext|>"}, "run": {"max_steps": 3}}
    batches = run(name, "trainers", given, folder)["batches"]
    eos = tokenizer_of(opened(folder)).eos_id
    labels = [pair for row in batch_rows(batches) for pair in zip(row["input_ids"], row["labels"], strict=True)]
    assert {id_ for id_, label in labels if label == -100} == {eos}


@environment
def test_an_id_learns_from_its_document_alone(tmp_path: Path, name: str) -> None:
    short = {"name": "hf_positions", "format": "parquet", "sequence_length": 256, "columns": ["position_ids"]}
    exported(tmp_path, short)
    given = {"code": CODE["positions"], "pairs": True, "width": 320, "run": {"max_steps": 2}}
    found = run(name, "trainers", given, tmp_path)
    rows = list(batch_rows(found["batches"]))
    assert any(0 in row["position_ids"][1:] for row in rows)
    assert pairs_of(found["pairs"]) == rules.transformers(rows)


@environment
@pytest.mark.parametrize("code", ["sft_rows", "sft_documents"])
def test_what_is_learned_is_that_of_hdf5(corpus_of: Callable[[str], Path], name: str, code: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "trainers", {"code": CODE[code]}, folder)
    assert rules.transformers(batch_rows(found["batches"])) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


@environment
@pytest.mark.parametrize(("code", "options"), [("sft_rows", {}), ("sft_documents", {"unit": "document"})])
def test_the_golden_pack(
    corpus_of: Callable[[str], Path], tmp_path: Path, name: str, code: str, options: dict[str, Any]
) -> None:
    given = {"code": CODE[code], "tokenizer": str(corpus_of(PAGE) / "corpus/tokenizer/tokenizer.json")}
    found = golden(name, "trainers", given, tmp_path, code, format="parquet", reader="transformers", **options)
    assert found == LEARNED
