"""axolotl on ids, as its page says: what reaches the model, and what the model learns of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.export.masked import rules
from tests.export.masked.product import of_hdf5
from tests.export.readers.conftest import ORACLE
from tests.export.readers.environments import block, needs, run
from tests.export.readers.trained import LEARNED, batch_rows, falls, golden, rows_of, windows_of

PAGE = "axolotl"
MASKED: dict[str, Any] = yaml.safe_load(block(PAGE, "yaml", "sample_packing"))
WINDOWS: dict[str, Any] = yaml.safe_load(block(PAGE, "yaml", "path: windows"))
UNTOLD = {"DO_NOT_TRACK": "1", "AXOLOTL_DO_NOT_TRACK": "1"}
environment = pytest.mark.parametrize("name", [needs("axolotl")])
Corpora = Callable[[str], Path]


def given(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """What a run is given: settings, and the tokenizer of a corpus."""
    return {"settings": settings, "tokenizer": str(folder / "corpus/tokenizer/tokenizer.json")}


@environment
def test_what_is_learned_is_that_of_hdf5(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    found = run(name, "ax", given(folder, MASKED), folder, **UNTOLD)
    assert rules.transformers(batch_rows(found["batches"])) == of_hdf5(folder, ORACLE)
    assert falls(found["losses"])


@environment
def test_every_window_reaches_the_model(corpus_of: Corpora, name: str) -> None:
    folder = corpus_of(PAGE)
    asked = {**given(folder, WINDOWS), "code": block(PAGE, "python", "save_to_disk")}
    found = run(name, "ax", asked, folder, **UNTOLD)
    assert rows_of(found["batches"]) == rows_of(found["batches"], "labels") == sorted(windows_of(folder, 2048))
    assert falls(found["losses"])


@environment
def test_the_golden_pack(corpus_of: Corpora, tmp_path: Path, name: str) -> None:
    asked = given(corpus_of(PAGE), MASKED)
    found = golden(name, "ax", asked, tmp_path, "axolotl", UNTOLD, format="parquet", reader="axolotl")
    assert found == LEARNED


@environment
def test_packed_documents_see_each_other_without_a_named_attention(
    corpus_of: Corpora, tmp_path: Path, name: str
) -> None:
    asked = given(corpus_of(PAGE), {key: value for key, value in MASKED.items() if key != "attn_implementation"})
    found = golden(name, "ax", asked, tmp_path, "axolotl", UNTOLD, format="parquet", reader="axolotl")
    assert max(len(context) for context, _ in found) > 2
