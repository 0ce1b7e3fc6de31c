"""LMData against the original's output, array by array, and against its statistics."""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.tokenize.hdf5 import FEATURES_BY_CHANNELS, LM_FEATURES, read_hdf5, write_hdf5
from corpus_assets.tokenize.statistics import recount
from tests.golden import SHARED, shared
from tests.tokenize.reference_driver import Output, run, tokenizer

CASES = sorted(path.name for path in (SHARED / "golden" / "cerebras" / "cases").glob("*lm_*"))
LEGACY_BOS = "lm_gpt2_split_removebos_LEGACY"
SAME_STATISTICS = (
    *("processed_files", "n_examples", "num_tokens", "loss_valid_tokens", "num_masked_tokens"),
    *("raw_chars_count", "raw_bytes_count", "normalized_chars_count", "normalized_bytes_count"),
)


def case(name: str) -> dict[str, Any]:
    return dict(json.loads(shared("golden", "cerebras", "cases", name, "case.json").read_text()))


def expected(name: str) -> dict[str, NDArray[np.int32]]:
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def post_process(name: str) -> dict[str, Any]:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    return dict(json.loads(text)["post_process"])


@cache
def output(name: str) -> Output:
    return run(case(name))


@pytest.mark.parametrize("name", CASES)
def test_arrays_equal_the_original(name: str) -> None:
    given = case(name)
    files = expected(LEGACY_BOS.replace("removebos_LEGACY", "text") if name == LEGACY_BOS else name)
    assert sorted(output(name).files) == sorted(files)
    for file, rows in files.items():
        if given.get("leftover_order_undefined") and f"{file}.h5" == given["leftover_file"]:
            assert len(output(name).files[file]) == len(rows)
            continue
        if given["dataset"].get("inverted_mask"):
            rows[:, 1] = 1 - rows[:, 1]  # the original ignores it; README: sane_transform
        np.testing.assert_array_equal(output(name).files[file], rows)


def test_legacy_bos_removal_differs_as_described() -> None:
    mine = np.concatenate(list(output(LEGACY_BOS).files.values()))
    legacy = np.concatenate(list(expected(LEGACY_BOS).values()))
    assert len(legacy) < len(mine)  # the original deletes a real token of every piece but the first


@pytest.mark.parametrize("name", [name for name in CASES if name != LEGACY_BOS])
def test_statistics_equal_the_original_but_for_padding(name: str) -> None:
    original, given = post_process(name), case(name)
    counted = output(name).statistics.as_dict()
    loaded = tokenizer(given["tokenizer"]["label"])
    assert (loaded.eos_id, loaded.pad_id, loaded.vocab_size) == tuple(
        original[key] for key in ("eos_id", "pad_id", "vocab_size")
    )
    if given.get("statistics_comparable", True):
        for key in SAME_STATISTICS:
            assert counted[key] == original[key], key
        # Section 15 item 9: the original calls a document discarded when its last window is one id.
        wrongly_discarded = output(name).one_token_tails
        assert counted["discarded_files"] + wrongly_discarded == original["discarded_files"]
        assert counted["successful_files"] - wrongly_discarded == original["successful_files"]
    before = output(name).before_leftover
    assert before.average_chars_per_sequence == original["average_chars_per_sequence"]
    assert before.average_bytes_per_sequence == original["average_bytes_per_sequence"]
    assert before.unaccounted_tokens == sum(max(0, size - 1) for size in output(name).remainders)


@pytest.mark.parametrize("name", CASES)
def test_padding_is_what_no_document_filled(name: str) -> None:
    """The original counts every input equal to the pad id, real end-of-text ids included."""
    rows = np.concatenate(list(output(name).files.values()))
    statistics, original = output(name).statistics, post_process(name)
    real = rows[:, 1] == (0 if case(name)["dataset"].get("inverted_mask") else 1)
    real_pads = int(np.count_nonzero((rows[:, 0] == original["pad_id"]) & real))
    assert statistics.num_pad_tokens == int(np.count_nonzero(~real))
    if name != LEGACY_BOS and not case(name).get("leftover_order_undefined"):
        assert statistics.num_pad_tokens + real_pads == original["num_pad_tokens"]


@pytest.mark.parametrize("name", CASES)
def test_files_and_recount_carry_the_same(name: str) -> None:
    inverted = case(name)["dataset"].get("inverted_mask", False)
    for rows in output(name).files.values():
        target = io.BytesIO()
        write_hdf5(target, [rows], {}, features=LM_FEATURES, sequence_length=rows.shape[2])
        with read_hdf5(target) as reader:
            np.testing.assert_array_equal(np.concatenate(list(reader.blocks())), rows)
            counted = recount(reader.blocks(), inverted)
        assert counted.n_examples == len(rows)
    total = recount(output(name).files.values(), inverted)
    for key in ("n_examples", "num_tokens", "loss_valid_tokens", "num_masked_tokens", "num_pad_tokens"):
        assert getattr(total, key) == getattr(output(name).statistics, key)


@pytest.mark.parametrize("sample", sorted((SHARED / "golden" / "cerebras" / "sample_h5").glob("*.h5")), ids=str)
def test_files_of_the_original_open(sample: Path) -> None:
    with sample.open("rb") as stream, read_hdf5(stream) as reader:
        rows = np.concatenate(list(reader.blocks()))
    assert rows.dtype == np.int32
    assert rows.shape == (reader.n, len(reader.features), reader.sequence_length)
    assert reader.features == FEATURES_BY_CHANNELS[rows.shape[1]]
    if sample.stem == "lmdata_3ch":
        np.testing.assert_array_equal(rows, expected("lm_gpt2_pack")["output_chunk_0_0_0_0"])
