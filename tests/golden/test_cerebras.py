"""Runs of Cerebras' Model Zoo again, from a corpus.yaml with its parameter names: our rows equal those of Cerebras."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.data.building import build, open_corpus
from tests.golden import shared
from tests.tokenize.reference_reading import case, cases

MODES = ("LMData", "LMData_VSL", "FIM", "Summarization", "Summarization_VSL", "DPO")
DIFFERENT = {
    "lm_gpt2_split_removebos_LEGACY": "Cerebras loses an id of every piece, uncounted (Defect: begin-of-text removal)",
    "sum_gpt2_newsep_LEGACY": "Cerebras never inserts a new separator (Defect: a new separator); with equal parameters "
    "SANE_sum_new_sep_token asks for rows that have it, which are ours",
    "lm_gpt2_procs2": "each of two processes packs every other file by itself; we follow one process",
    "lm_gpt2_procs5_tasksplit": "three processes pack chunks by turns, and what is left over in the order it arrives",
    "fim_tiny_rate1_spm5": "Cerebras draws from a generator that it never seeds (FIM)",
    "fim_tiny_defaults": "Cerebras draws from a generator that it never seeds (FIM)",
}
"""Runs whose rows are not ours, and why: docs/formats/cerebras-rows.md "What differs"."""


def tokenizer(given: dict[str, Any]) -> dict[str, Any] | None:
    label = given["tokenizer"]["label"]
    if label in ("gpt2", "gpt2sep"):  # The second has the separator in its table, as ours has once it is added.
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
    """Rows of all files: file by file, and chunk by chunk in each (`output_chunk_<process>_<file>_<document>_<chunk>`).

    The mask is the one that was asked for (docs/formats/cerebras-rows.md "Defect: inverted_mask").
    """
    given = case(name)

    def place(file: str) -> tuple[int, int]:
        process, number, _, chunk = map(int, file.split("_")[2:])
        return number * given["processes"] + process, chunk

    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        files = arrays.files if given["processing"].get("shuffle") else sorted(arrays.files, key=place)
        rows = np.concatenate([arrays[file] for file in files])
    if given["legacy_defect"] and given["dataset"].get("inverted_mask"):
        rows[:, 1] = 1 - rows[:, 1]
    return rows


def dataset_of(given: dict[str, Any]) -> dict[str, Any]:
    """The entry of `datasets`: Cerebras' parameters as they were given."""
    options = {**given["processing"], **given["dataset"], **given["cli"]}
    options = {key: value for key, value in options.items() if key not in ("eos_id", "pad_id")}
    if given["id"] == "SANE_sum_multi_turn":  # Cerebras ran on single pairs; the note says what would be the setting.
        options = {key: value for key, value in options.items() if not key.endswith(("prompt_key", "completion_key"))}
        options |= {"multi_turn_key": "messages", "multi_turn_content_key": "content"}
    folder = shared("golden", "cerebras", *Path(given["input"]).parts)
    return {"name": "golden", "mode": given["mode"], "compat": "cerebras", "input_dir": str(folder), **options}


def made(name: str, folder: Path) -> NDArray[np.int32]:
    """Rows of all files that the stages write, file by file."""
    given = case(name)
    corpus = open_corpus(folder, {"sources": [], "datasets": [dataset_of(given)], "tokenizer": tokenizer(given)})
    build(corpus)
    return rows_in(folder)


def rows_in(folder: Path) -> NDArray[np.int32]:
    """Rows of all files of the dataset `golden` in a corpus, file by file."""
    rows = []
    for written in sorted((folder / "corpus" / "tokens" / "golden").glob("*.h5")):
        with h5py.File(written) as stored:
            rows.append(stored["data"][:])
            assert len(rows[-1]) == stored.attrs["n_examples"] > 0
    return np.concatenate(rows)


def in_any_order(rows: NDArray[np.int32]) -> Counter[bytes]:
    return Counter(row.tobytes() for row in rows)


@pytest.mark.parametrize("name", [name for name in cases(*MODES) if name not in DIFFERENT])
def test_rows_of_the_original(name: str, tmp_path: Path) -> None:
    rows, wanted = made(name, tmp_path), expected(name)
    if case(name)["processing"].get("shuffle"):  # docs/formats/cerebras-hdf5.md "Online shuffle"
        assert in_any_order(rows) == in_any_order(wanted)
        return
    np.testing.assert_array_equal(rows, wanted)


@pytest.mark.parametrize("name", [name for name in cases(*MODES) if name in DIFFERENT])
def test_rows_that_must_differ_do(name: str, tmp_path: Path) -> None:
    """So that the list of reasons never holds a run that has become equal."""
    assert in_any_order(made(name, tmp_path)) != in_any_order(expected(name)), DIFFERENT[name]


def test_averages_of_several_processes_are_over_all_rows(tmp_path: Path) -> None:
    """Those of Cerebras leave out what its packing left over (docs/formats/cerebras-hdf5.md "Statistics")."""
    name = "lm_gpt2_procs5_tasksplit"
    rows = len(made(name, tmp_path))
    folder = shared("golden", "cerebras", "cases", name)
    original = json.loads((folder / "expected.json").read_text())["post_process"]
    ours = json.loads((tmp_path / "corpus" / "tokens" / "golden" / "data_params.json").read_text())["post-process"]
    with np.load(folder / "expected.npz", allow_pickle=False) as arrays:
        left_over = len(arrays[case(name)["leftover_file"].removesuffix(".h5")])
    for unit in ("chars", "bytes"):
        key, count = f"average_{unit}_per_sequence", ours[f"raw_{unit}_count"]
        assert count == original[f"raw_{unit}_count"]
        assert ours[key] == -(-count // rows)
        assert original[key] == -(-count // (original["n_examples"] - left_over)) != ours[key]
