"""Runs of Cerebras' Model Zoo again, from a corpus.yaml with its parameter names: our rows equal those of Cerebras."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.data.building import build, open_corpus
from tests.golden import shared
from tests.tokenize.reference_reading import case, cases, chunks, keys
from tests.tokenize.tokenizers_for_tests import files_of_case

MODES = ("LMData", "LMData_VSL", "FIM", "Summarization", "Summarization_VSL", "DPO")
RUNS = cases(*MODES)


def difference(name: str) -> str:
    """Why the rows of a run are not ours, empty if they are: docs/formats/cerebras-rows.md "What differs"."""
    given = case(name)
    options = {**given["processing"], **given["dataset"], **given["cli"]}
    if given["mode"] == "FIM" and options.get("fim_rate", 0.9) > 0:
        return "Cerebras draws from a generator that it never seeds (FIM)"
    if given["legacy_defect"] and options.get("remove_bos_in_chunks"):
        return "Cerebras loses an id of every piece, uncounted (Defect: begin-of-text removal)"
    if given["legacy_defect"] and options.get("sep_token"):
        return "Cerebras never inserts a new separator (Defect: a new separator)"
    carries_over = given["mode"] in ("LMData", "FIM") and options.get("pack_sequences", True)
    if (carries_over or options.get("short_seq_prob")) and sum(map(bool, chunks(given))) > 1:
        return "each of several processes packs and draws over its own files or chunks; we follow one process"
    return ""


def tokenizer(given: dict[str, Any]) -> dict[str, Any]:
    """The section of the tokenizer of a case. An entry that was added to its table is one that ours adds."""
    said = given["tokenizer"]
    first, *others = map(str, files_of_case(said["files"]))
    ids = {"eos": said["eos_id"], "pad": said["pad_id"]}
    if said["tokenizer_type"] == "GPT2Tokenizer":
        return {"kind": "gpt2", "merges": first, "encoder": others[0]}
    if said["tokenizer_type"] == "HuggingFaceTokenizer":
        return {"kind": "huggingface", "path": first, "special_tokens_in_text": True, **ids}
    return {"kind": "neox", "path": first, "special_tokens_in_text": True, **ids}


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
    if keys(given) == ["messages"] and "prompt_key" in options:  # Cerebras ran on single pairs, as the note says.
        options = {key: value for key, value in options.items() if not key.endswith(("prompt_key", "completion_key"))}
        options |= {"multi_turn_key": "messages", "multi_turn_content_key": "content"}
    folder = shared("golden", "cerebras", *Path(given["input"]).parts)
    return {"name": "golden", "mode": given["mode"], "compat": "cerebras", "input_dir": str(folder), **options}


def made(name: str, folder: Path) -> NDArray[np.int32]:
    """Rows of all files that the stages write, file by file."""
    given = case(name)
    corpus = open_corpus(folder, {"sources": [], "datasets": [dataset_of(given)], "tokenizer": tokenizer(given)})
    build(corpus)
    return rows_in(folder, {shard.key: shard.path for shard in corpus.listing().shards})


def rows_in(folder: Path, paths: Mapping[str, str] = MappingProxyType({})) -> NDArray[np.int32]:
    """Rows of all files of the dataset `golden` in a corpus, file by file.

    paths: of the raw files by partition, whose order is that of the originals; a partition has a name of its own.
    """

    def place(written: Path) -> str:
        return paths.get(written.stem.removeprefix("packed-"), written.stem)

    rows = []
    for written in sorted((folder / "corpus" / "tokens" / "golden").glob("*.h5"), key=place):
        with h5py.File(written) as stored:
            rows.append(stored["data"][:])
            assert len(rows[-1]) == stored.attrs["n_examples"] > 0
    return np.concatenate(rows)


def in_any_order(rows: NDArray[np.int32]) -> Counter[bytes]:
    return Counter(row.tobytes() for row in rows)


@pytest.mark.parametrize("name", [name for name in RUNS if not difference(name)])
def test_rows_of_the_original(name: str, tmp_path: Path) -> None:
    rows, wanted = made(name, tmp_path), expected(name)
    if case(name)["processing"].get("shuffle"):  # docs/formats/cerebras-hdf5.md "Online shuffle"
        assert in_any_order(rows) == in_any_order(wanted)
        return
    np.testing.assert_array_equal(rows, wanted)


@pytest.mark.parametrize("name", [name for name in RUNS if difference(name)])
def test_rows_that_must_differ_do(name: str, tmp_path: Path) -> None:
    """So that no reason is given for a run that has become equal."""
    assert in_any_order(made(name, tmp_path)) != in_any_order(expected(name)), difference(name)


LEFT_OVER = [name for name in RUNS if case(name)["mode"] == "LMData" and case(name)["leftover_file"]]


@pytest.mark.parametrize("name", LEFT_OVER)
def test_averages_of_several_processes_are_over_all_rows(name: str, tmp_path: Path) -> None:
    """Those of Cerebras leave out what its packing left over (docs/formats/cerebras-hdf5.md "Statistics")."""
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
