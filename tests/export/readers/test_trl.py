"""SFTTrainer of TRL on ids, as its page says: what reaches the model, and what the model learns of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import (
    LEARNED,
    batch_rows,
    documents_of,
    falls,
    golden,
    rows_of,
    split,
    windows_of,
)

PAGE = "hugging-face"
CODE = {
    "windows": block(PAGE, "python", "SFTConfig(max_length=None)"),
    "documents": block(PAGE, "python", "bfd_split"),
    "packed": block(PAGE, "python", "exports/hf_rows"),
    "rows": block(PAGE, "python", 'exports/sft"'),
}
environment = pytest.mark.parametrize("name", [needs("hugging-face")])
Corpora = Callable[[str], Path]


@environment
def test_every_window_reaches_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "trainers", {"code": CODE["windows"]}, folder)
    assert rows_of(found["batches"]) == rows_of(found["batches"], "labels") == sorted(windows_of(folder, 2048))
    assert falls(found["losses"])


@environment
@pytest.mark.parametrize("code", ["documents", "packed"])
def test_every_document_reaches_the_model_packed(corpus_of: Corpora, name: str, code: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "trainers", {"code": CODE[code]}, folder)
    assert split(found["batches"]) == sorted(documents_of(folder))
    assert falls(found["losses"])


@environment
@pytest.mark.parametrize(("strategy", "keeps"), [("bfd", False), ("bfd_split", True), ("wrapped", True)])
def test_packing_by_default_loses_what_is_over(corpus_of: Corpora, name: str, strategy: str, *, keeps: bool) -> None:
    folder = corpus_of(PAGE)
    short = CODE["documents"].replace("2048", "64").replace('"bfd_split"', repr(strategy))
    found = run(name, "trainers", {"code": short}, folder)
    kept = sum(len(row["input_ids"]) for row in batch_rows(found["batches"]))
    documents = documents_of(folder)
    assert kept == sum(len(ids) if keeps else min(len(ids), 64) for ids in documents)
    assert any(len(ids) > 64 for ids in documents)


@environment
def test_what_is_learned_of_rows_is_that_of_hdf5(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "trainers", {"code": CODE["rows"]}, folder)
    assert rules.transformers(batch_rows(found["batches"])) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


OTHER = {
    "packed again": ("packing=False, padding_free=True, max_length=None", "packing=True, max_length=64"),
    "padded": ("padding_free=True, ", ""),
}
ACROSS = rules.Pairs({((11, 12), 13): 1, ((11, 12, 13, 14, 21, 22), 23): 1})
"""What is learned of the golden pack where its two documents are taken for one."""


@environment
@pytest.mark.parametrize(
    ("code", "options", "learned"),
    [
        (CODE["rows"], {}, LEARNED),
        (CODE["documents"].replace("hf_documents", "sft"), {"unit": "document"}, LEARNED),
        *((CODE["rows"].replace(*other), {}, ACROSS) for other in OTHER.values()),
    ],
    ids=["rows", "documents", *OTHER],
)
def test_the_golden_pack(
    corpus_of: Corpora, tmp_path: Path, name: str, code: str, options: dict[str, Any], learned: rules.Pairs
) -> None:
    given = {"code": code, "tokenizer": str(corpus_of(PAGE) / "corpus/tokenizer/tokenizer.json")}
    assert golden(name, "trainers", given, tmp_path, "sft", format="parquet", reader="trl", **options) == learned
