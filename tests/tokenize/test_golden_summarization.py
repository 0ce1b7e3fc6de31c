"""Summarization and Summarization_VSL against Cerebras' output, array by array, and against its statistics."""

import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics, merge
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.modes.summarization import summarization_rows, summarization_vsl_rows
from resources.formats.examples import Example
from tests.golden import shared
from tests.tokenize import tokenizers_for_tests
from tests.tokenize.reference_reading import case, cases, chunks, file_name, keys
from tests.tokenize.sections import cleaning, summarization, summarization_vsl, window

CASES = cases("Summarization", "Summarization_VSL")
COMPARABLE = [name for name in CASES if case(name).get("statistics_comparable", True)]
SAME_STATISTICS = (
    *("processed_files", "discarded_files", "successful_files", "n_examples", "num_tokens", "loss_valid_tokens"),
    *("num_masked_tokens", "raw_chars_count", "raw_bytes_count"),
    *("average_chars_per_sequence", "average_bytes_per_sequence"),
)


class Output(NamedTuple):
    files: dict[str, NDArray[np.int32]]
    statistics: Statistics


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    dataset = given["dataset"] | given["cli"]
    return {
        "length": given["processing"]["max_seq_length"],
        "minimum_length": given["cli"].get("min_sequence_len", 6),
        "prompt_prefix": dataset.get("prompt_prefix"),
        "completion_prefix": dataset.get("completion_prefix"),
        "separator": dataset.get("sep_token"),
        "inverted_mask": dataset.get("inverted_mask", False),
        **cleaning(dataset),
    }


def example(record: dict[str, Any], given: dict[str, Any]) -> Example:
    wanted = keys(given)
    if len(wanted) == 1:
        content = given["dataset"].get("multi_turn_content_key", "content")
        turns = record[wanted[0]]
        listed = [turn[content] if isinstance(turn, dict) else turn for turn in turns]
        return Example("", "", messages=[{"role": "user", "content": text} for text in listed])
    return Example("", "", prompt=record.get(wanted[0]), completion=record.get(wanted[1]))


@cache
def output(name: str, separator: bool = True) -> Output:
    given = case(name)
    options = options_of(given)
    tokenizer = tokenizers_for_tests.for_case(given)
    if not separator:
        options["separator"] = None
    elif options["separator"]:
        tokenizer = tokenizer.with_token(options["separator"])
    ends = given["dataset"].get("eos_after_prompt", given["cli"].get("eos_after_prompt", False))
    packed = summarization_vsl(**options, eos_after_prompt=ends, packing="nearest_previous", **window(None))
    channels = 5 if given["mode"].endswith("VSL") else 3
    files, statistics = {}, []
    for chunk in (chunk for process in chunks(given) for chunk in process):
        counted = Statistics()
        examples, tools = [example(record, given) for record in chunk.records], Tools(tokenizer, counted)
        if channels == 5:
            blocks = summarization_vsl_rows(packed, examples, tools)
        else:
            blocks = summarization_rows(summarization(**options), examples, tools)
        rows = np.concatenate([np.empty((0, channels, options["length"]), np.int32), *blocks])
        statistics.append(counted)
        if len(rows):
            files[file_name(chunk)] = rows
    return Output(files, merge(statistics))


def expected(name: str) -> dict[str, NDArray[np.int32]]:
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def post_process(name: str) -> dict[str, Any]:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    return dict(json.loads(text)["post_process"])


@pytest.mark.parametrize("name", CASES)
def test_arrays_equal_the_original(name: str) -> None:
    # docs/formats/cerebras-rows.md "Defect: a new separator":
    # Cerebras inserts no separator that is new; without one the rows are equal.
    separator = case(name)["legacy_defect"] is None
    files, wanted = output(name, separator).files, expected(name)
    if case(name)["sane_behaviour_case"] and case(name)["original_was_run_on"] != case(name)["input"]:
        # Cerebras ran on other input (a clean one, pairs one by one): document indices differ, rows do not.
        files, wanted = ({"all": np.concatenate([found[key] for key in sorted(found)])} for found in (files, wanted))
    assert sorted(files) == sorted(wanted)
    for file, rows in wanted.items():
        np.testing.assert_array_equal(files[file], rows)


@pytest.mark.parametrize("name", [name for name in CASES if case(name)["legacy_defect"]])
def test_legacy_separator_is_inserted(name: str) -> None:
    separator = options_of(case(name))["separator"]
    assert separator
    tokenizer = tokenizers_for_tests.for_case(case(name)).with_token(separator)
    rows = np.concatenate(list(output(name).files.values()))
    assert ((rows[:, 0] == tokenizer.token_id(separator)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", COMPARABLE)
def test_statistics_equal_the_original(name: str) -> None:
    given, original = case(name), post_process(name)
    counted = output(name, given["legacy_defect"] is None).statistics.as_dict()
    if given["dataset"].get("inverted_mask"):
        # docs/formats/cerebras-rows.md "Defect: inverted_mask": Cerebras counts what is masked as learned.
        for mine, theirs in (("loss_valid", "num_masked"), ("num_masked", "loss_valid")):
            assert counted[f"{mine}_tokens"] == original.pop(f"{theirs}_tokens")
    for key in SAME_STATISTICS:
        assert key not in original or counted[key] == original[key], key
    for key in ("normalized_chars_count", "normalized_bytes_count"):
        if len(keys(given)) == 2:
            assert counted[key] == original[key], key
        else:  # docs/formats/cerebras-hdf5.md "Defect: counts of a conversation"
            assert counted[key] == counted[key.replace("normalized", "raw")] >= original[key]


@pytest.mark.parametrize("name", COMPARABLE)
def test_padding_is_counted_by_length(name: str) -> None:
    # docs/formats/cerebras-hdf5.md "Defect: padding is counted by id":
    # Cerebras counts a real end-of-text id as padding where both ids are equal, and never as
    # a document's.
    original = post_process(name)
    result = output(name, case(name)["legacy_defect"] is None)
    rows = np.concatenate(list(result.files.values()))
    ends = int(np.count_nonzero(rows[:, 0] == original["eos_id"]))
    pads = int(np.count_nonzero(rows[:, 0] == original["pad_id"]))
    assert pads == original["num_pad_tokens"]
    statistics = result.statistics
    real_ends = ends - (statistics.num_pad_tokens if original["eos_id"] == original["pad_id"] else 0)
    assert statistics.non_pad_tokens == original["non_pad_tokens"] + real_ends
    assert statistics.num_pad_tokens + statistics.non_pad_tokens == statistics.num_tokens
