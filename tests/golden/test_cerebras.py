"""Runs of Cerebras' Model Zoo again, from a corpus.yaml with its parameter names: our rows equal those of Cerebras."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.data.building import build, open_corpus
from tests.golden import shared
from tests.tokenize.reference_reading import case, cases, chunks, file_name, paths

MODES = ("LMData", "LMData_VSL", "FIM", "Summarization", "Summarization_VSL", "DPO")


def is_comparable(name: str) -> bool:
    """One process, one input file, nothing random, no defect that ours does not have."""
    given = case(name)
    plain = given["deterministic"] and not given["legacy_defect"] and not given["sane_behaviour_case"]
    return bool(plain and given["processes"] == 1 and len(paths(given)) == 1)


def tokenizer(given: dict[str, Any]) -> dict[str, Any] | None:
    label = given["tokenizer"]["label"]
    if label == "gpt2":
        folder = shared("tokenizers", "gpt2")
        return {"kind": "gpt2", "merges": str(folder / "gpt2-vocab.bpe"), "encoder": str(folder / "gpt2-encoder.json")}
    control = {"special_tokens_in_text": True}
    if label == "neox":
        return {"kind": "neox", "path": str(shared("tokenizers", "neox", "neox-encoder.json")), **control}
    folder = shared("golden", "cerebras", "tokenizers", label.removesuffix("-as-neox"))
    if label == "tiny":
        ids = {"eos": given["tokenizer"]["eos_id"], "pad": given["tokenizer"]["pad_id"]}
        return {"kind": "neox", "path": str(folder / "tokenizer.json"), **control, **ids}
    kind = {"kind": "neox", "path": str(folder / "tokenizer.json")} if label.endswith("neox") else None
    return {**(kind or {"kind": "huggingface", "path": str(folder)}), **control}


def expected(name: str) -> NDArray[np.int32]:
    """Rows of all files in the order of their chunks."""
    given = case(name)
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        names = [file_name(chunk) for chunk in chunks(given)[0]]
        return np.concatenate([arrays[file] for file in names if file in arrays.files])


@pytest.mark.parametrize("name", [name for name in cases(*MODES) if is_comparable(name)])
def test_rows_of_the_original(name: str, tmp_path: Path) -> None:
    given = case(name)
    options = {**given["processing"], **given["dataset"], **given["cli"]}
    options = {key: value for key, value in options.items() if key not in ("eos_id", "pad_id")}
    (file,) = paths(given)
    options = {"input_dir": str(file.parent), **options}
    dataset = {"name": "golden", "mode": given["mode"], "compat": "cerebras", **options}
    values = {"sources": [], "datasets": [dataset], "tokenizer": tokenizer(given)}
    corpus = open_corpus(tmp_path, values)
    build(corpus)
    (written,) = sorted((tmp_path / "corpus" / "tokens" / "golden").glob("*.h5"))
    with h5py.File(written) as stored:
        np.testing.assert_array_equal(stored["data"][:], expected(name))
