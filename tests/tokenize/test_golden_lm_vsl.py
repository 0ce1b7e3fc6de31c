"""LMData_VSL against Cerebras' output, array by array, and against its statistics."""

import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics, merge
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.modes.lm_vsl import VSLBuilder
from tests.golden import shared
from tests.tokenize.reference_reading import NumberedChunk, case, cases, chunks, file_name
from tests.tokenize.sections import cleaning, lm_vsl, window
from tests.tokenize.tokenizers_for_tests import for_case

CASES = cases("LMData_VSL")
SAME_STATISTICS = (
    *("processed_files", "n_examples", "num_tokens", "loss_valid_tokens", "num_masked_tokens"),
    *("num_pad_tokens", "non_pad_tokens", "average_chars_per_sequence", "average_bytes_per_sequence"),
    *("raw_chars_count", "raw_bytes_count", "normalized_chars_count", "normalized_bytes_count"),
)


class Output(NamedTuple):
    files: dict[str, NDArray[np.int32]]
    statistics: Statistics


class Process:
    """One tokenizing process of Cerebras: rows of every chunk by themselves, one generator for all."""

    def __init__(self, given: dict[str, Any]) -> None:
        processing, dataset, cli = given["processing"], given["dataset"], given["cli"]
        self.key = dataset.get("jsonl_key", "text")
        self.tokenizer = for_case(given)
        self.section = lm_vsl(
            processing["max_seq_length"],
            packing="nearest_previous",
            inverted_mask=dataset.get("inverted_mask", False),
            minimum_length=cli.get("min_sequence_len", 6),
            long_documents="fold" if dataset.get("fold_long_doc", True) else "drop",
            short_sequence_probability=cli.get("short_seq_prob", 0.0),
            seed=processing.get("seed", 0),
            short_sequence_draws="reference",
            **window(None),
            **cleaning(dataset),
        )
        self.statistics = Statistics()
        self.builder = VSLBuilder(self.section, self.tokenizer.eos_id, self.tokenizer.pad_id, self.statistics)

    def rows(self, chunk: NumberedChunk) -> NDArray[np.int32]:
        texts = list[str]()
        for record in chunk.records:
            texts.append(clean(record[self.key], self.section))
            self.statistics.add_text(record[self.key], texts[-1])
        self.statistics.processed_files += len(texts)
        # Batches of five: they must not show in the rows.
        batches = (self.tokenizer.encode_batch(texts[first : first + 5]) for first in range(0, len(texts), 5))
        blocks = [*self.builder.rows(batches), *self.builder.finish()]
        return np.concatenate([np.empty((0, 5, self.section.sequence_length), np.int32), *blocks])


@cache
def output(name: str) -> Output:
    given = case(name)
    files, counted = dict[str, NDArray[np.int32]](), list[Statistics]()
    for share in chunks(given):
        process = Process(given)
        named = {file_name(chunk): process.rows(chunk) for chunk in share}
        files |= {file: rows for file, rows in named.items() if len(rows)}
        counted.append(process.statistics)
    return Output(files, merge(counted))


@pytest.mark.parametrize("name", CASES)
def test_arrays_equal_the_original(name: str) -> None:
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        expected = {file: arrays[file] for file in arrays.files}
    assert output(name).files.keys() == expected.keys()
    for file, rows in expected.items():
        if case(name)["dataset"].get("inverted_mask"):
            rows[:, 1] = 1 - rows[:, 1]  # docs/formats/cerebras-rows.md "Defect: inverted_mask"
        np.testing.assert_array_equal(output(name).files[file], rows, err_msg=file)


@pytest.mark.parametrize("name", CASES)
def test_statistics_equal_the_original(name: str) -> None:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    original, statistics = json.loads(text)["post_process"], output(name).statistics
    if case(name).get("statistics_comparable", True):
        for key in (*SAME_STATISTICS, "discarded_files", "successful_files"):
            assert statistics.as_dict()[key] == original[key], key
    assert statistics.unaccounted_tokens == 0
