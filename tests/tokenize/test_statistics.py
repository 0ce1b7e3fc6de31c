"""Counters: merging, records, data_params.json."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.hdf5 import LM_FEATURES
from corpus_assets.tokenize.statistics import Statistics, data_params, encode_data_params, merge, recount

counts = st.integers(0, 10**9)
reasons = st.dictionaries(st.sampled_from(["no_label", "empty_text", "packed_tail"]), st.integers(1, 99)).map(Counter)
statistics = st.builds(
    Statistics,
    processed_files=counts,
    discarded_files=counts,
    n_examples=counts,
    raw_chars_count=counts,
    num_tokens=counts,
    discarded_documents=reasons,
    dropped_tokens=reasons,
)


@given(st.lists(statistics, max_size=4), st.integers(0, 4))
def test_merging_in_parts_is_merging_at_once(parts: list[Statistics], cut: int) -> None:
    assert merge([merge(parts[:cut]), merge(parts[cut:])]) == merge(parts)
    assert merge(parts).n_examples == sum(part.n_examples for part in parts)


@given(statistics)
def test_records_keep_the_counters(one: Statistics) -> None:
    assert Statistics.from_dict(json.loads(json.dumps(one.as_dict()))) == one


def test_averages_are_rounded_up() -> None:
    one = Statistics(n_examples=3, raw_chars_count=10, raw_bytes_count=12)
    assert (one.average_chars_per_sequence, one.average_bytes_per_sequence) == (4, 4)
    assert Statistics(raw_chars_count=5).average_chars_per_sequence == 0


def test_text_is_counted_in_code_points_and_bytes() -> None:
    one = Statistics()
    one.add_text("né", "n")
    assert (one.raw_chars_count, one.raw_bytes_count) == (2, 3)
    assert (one.normalized_chars_count, one.normalized_bytes_count) == (1, 1)


@pytest.mark.parametrize(
    "wrong", [np.zeros((2, 5, 4)), np.zeros((2, 3)), np.full((1, 3, 4), 2), np.full((1, 3, 4), -1)]
)
def test_recount_refuses_other_arrays(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match="valid"):
        recount([wrong.astype(np.int32)])


def test_data_params_is_what_readers_ask_for() -> None:
    params = data_params(
        "LMData",
        LM_FEATURES,
        {"max_seq_length": 64},
        {"pack_sequences": True},
        Statistics(processed_files=2, n_examples=1),
        eos_id=0,
        pad_id=1,
        vocab_size=10,
    )
    raw = encode_data_params(params)
    assert json.loads(raw) == params
    assert list(json.loads(raw)) == ["dataset", "features", "post-process", "processing", "setup"]
    assert params["features"] == ["input_ids", "attention_mask", "labels"]
    assert params["processing"] == {"max_seq_length": 64, "eos_id": 0, "pad_id": 1}
    assert params["setup"] == {"mode": "LMData"}
    assert params["post-process"]["successful_files"] == 2
    assert params["post-process"]["vocab_size"] == 10
    assert raw.startswith(b'{\n    "dataset": {\n        "pack_sequences": true')
