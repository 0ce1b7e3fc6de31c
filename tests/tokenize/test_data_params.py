"""`data_params.json`: Cerebras' names, the features, no path."""

import json
from typing import Any

from corpus_assets.tokenize.counts.data_params import data_params, encode_data_params
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.tokenizers.protocol import Identity
from resources.formats.hdf5.layout import LM_FEATURES
from tests.tokenize.byte_tokenizer import ByteTokenizer

OPTIONS: dict[str, Any] = {
    "mode": "lm",
    "input": "train",
    "sequence_length": 64,
    "pack": True,
    "minimum_length": 6,
    "split_text": None,
    "keep_tail": True,
}


def params() -> dict[str, Any]:
    counted = Statistics(processed_files=2, n_examples=1)
    arrays, identity = {"num_sequences": 1}, Identity.of(ByteTokenizer())
    return data_params("LMData", LM_FEATURES, OPTIONS, statistics=counted, arrays=arrays, tokenizer=identity)


def test_it_is_what_readers_ask_for() -> None:
    found = params()
    assert found["features"] == ["input_ids", "attention_mask", "labels"]
    assert found["setup"] == {"mode": "LMData"}
    assert found["post-process"]["successful_files"] == 2
    assert found["post-process"]["vocab_size"] == ByteTokenizer().vocab_size
    assert found["h5_dataset_stats"] == {"num_sequences": 1}


def test_parameters_have_the_names_of_the_original() -> None:
    found = params()
    assert found["processing"]["max_seq_length"] == 64
    assert found["processing"]["split_text_to_tokenize"] is False
    assert found["processing"]["eos_id"] == ByteTokenizer().eos_id
    assert found["dataset"]["pack_sequences"] is True
    assert found["dataset"]["min_sequence_len"] == 6
    assert found["dataset"]["keep_tail"] is True


def test_keys_are_sorted_and_indented() -> None:
    raw = encode_data_params(params())
    assert json.loads(raw) == params()
    assert list(json.loads(raw)) == ["dataset", "features", "h5_dataset_stats", "post-process", "processing", "setup"]
    assert raw.startswith(b'{\n    "dataset": {\n        "input": "train"')
