"""LLaMA-Factory on packed rows, as its page says: what reaches the model, and what the model learns of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.test_trl import ACROSS
from tests.export.readers.trained import LEARNED, batch_rows, falls, golden

PAGE = "llama-factory"
SETTINGS: dict[str, Any] = yaml.safe_load(block(PAGE, "yaml", "tokenized_path"))
environment = pytest.mark.parametrize("name", [needs("llama-factory")])
Corpora = Callable[[str], Path]


def given(folder: Path, **changes: Any) -> dict[str, Any]:
    """What a run is given: the settings of the page, and the tokenizer of a corpus."""
    return {"settings": {**SETTINGS, **changes}, "tokenizer": str(folder / "corpus/tokenizer/tokenizer.json")}


@environment
def test_what_is_learned_is_that_of_hdf5(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "factory", given(folder), folder)
    assert rules.transformers(batch_rows(found["batches"])) == of_hdf5(folder, ORACLE)
    assert all(len(row["input_ids"]) % 8 == 0 for row in batch_rows(found["batches"]))
    assert falls(found["losses"])


@environment
@pytest.mark.parametrize(
    ("changes", "options", "learned"),
    [
        ({}, {}, LEARNED),
        ({"neat_packing": False}, {}, ACROSS),
        ({"packing": False, "neat_packing": False}, {"unit": "document"}, LEARNED),
    ],
    ids=["neat", "plain", "documents"],
)
def test_the_golden_pack(
    corpus_of: Corpora,
    tmp_path: Path,
    name: str,
    changes: Mapping[str, Any],
    options: Mapping[str, Any],
    learned: rules.Pairs,
) -> None:
    run_of = given(corpus_of(PAGE), **changes)
    found = golden(name, "factory", run_of, tmp_path, "sft", format="arrow", reader="llama_factory", **options)
    assert found == learned
