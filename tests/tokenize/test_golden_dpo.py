"""DPO against Cerebras' output: equal arrays with its defects, and without them where they do not show."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import DPODataset
from corpus_assets.tokenize.counts.statistics import Statistics, merge
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.dpo import formatted_rows
from corpus_assets.tokenize.modes.dpo_texts import Formatter
from corpus_assets.tokenize.ragged import Ids
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.formats.examples import Example
from tests.golden import shared
from tests.tokenize.reference_reading import NumberedChunk, case, cases, chunks, file_name
from tests.tokenize.sections import cleaning, dpo
from tests.tokenize.tokenizers_for_tests import for_case

CASES = cases("DPO")
SAME_STATISTICS = (
    *("processed_files", "discarded_files", "successful_files", "n_examples"),
    *("raw_chars_count", "raw_bytes_count", "normalized_chars_count", "normalized_bytes_count"),
    *("average_chars_per_sequence", "average_bytes_per_sequence"),
)
Rows = NDArray[np.int32]


def expected(name: str) -> dict[str, Rows]:
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def post_process(name: str) -> dict[str, Any]:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    return dict(json.loads(text)["post_process"])


def formatter(given: dict[str, Any]) -> Formatter | None:
    """Cerebras has templates for tokenizers of the hub alone."""
    if given["tokenizer"]["tokenizer_type"] != "HuggingFaceTokenizer":
        return None
    tokenizer = for_case(given)
    template = ChatTemplate(given["dataset"].get("chat_template") or tokenizer.chat_template or "")
    return lambda messages: template.render(Dialogue(messages), tokenizer.template_values).text


def section_of(given: dict[str, Any], *, reference: bool) -> DPODataset:
    dataset, processing = given["dataset"], given["processing"]
    return dpo(
        processing["max_seq_length"],
        max_prompt_length=processing.get("max_prompt_length", 512),
        response_delimiter=dataset.get("response_delimiter"),
        user_role=dataset.get("user_role", "user"),
        assistant_role=dataset.get("assistant_role", "assistant"),
        reference=reference,
        **cleaning(dataset),
    )


def examples(given: dict[str, Any], chunk: NumberedChunk) -> list[Example]:
    dataset = given["dataset"]
    prompt, chosen, rejected = (dataset.get(f"{field}_key", field) for field in ("prompt", "chosen", "rejected"))
    return [
        Example("", "golden", prompt=record.get(prompt), chosen=record.get(chosen), rejected=record.get(rejected))
        for record in chunk.records
    ]


@cache
def output(name: str, reference: bool) -> tuple[dict[str, Rows], Statistics]:
    given = case(name)
    files: dict[str, Rows] = {}
    statistics: list[Statistics] = []
    for share in chunks(given):
        for chunk in share:
            counted = Statistics()
            section = section_of(given, reference=reference)
            made = formatted_rows(section, examples(given, chunk), for_case(given), counted, formatter(given))
            blocks = list(made)
            statistics.append(counted)
            if blocks:
                files[file_name(chunk)] = np.concatenate(blocks)
    return files, merge(statistics)


@pytest.mark.parametrize("name", CASES)
def test_arrays_equal_the_original(name: str) -> None:
    files = output(name, True)[0]
    assert sorted(files) == sorted(expected(name))
    for file, rows in expected(name).items():
        np.testing.assert_array_equal(files[file], rows)


@pytest.mark.parametrize("name", CASES)
def test_statistics_equal_the_original_but_for_what_it_counts_as_loss_and_padding(name: str) -> None:
    original, (files, statistics) = post_process(name), output(name, True)
    if case(name).get("statistics_comparable") is False:
        pytest.skip("Cerebras' statistics are of another input")
    counted = statistics.as_dict()
    assert {key: counted[key] for key in SAME_STATISTICS} == {key: original[key] for key in SAME_STATISTICS}
    rows = np.concatenate(list(files.values()))
    length = rows.shape[2]
    # docs/formats/cerebras-hdf5.md "Statistics":
    # Cerebras counts all six channels as tokens, and from the first loss position on all as loss.
    assert 3 * counted["num_tokens"] == original["num_tokens"]
    masks = rows[:, [1, 4]]
    assert int((length - masks.argmax(axis=2)).sum()) == original["loss_valid_tokens"]
    assert counted["loss_valid_tokens"] == int(masks.sum())
    assert counted["num_masked_tokens"] == masks.size - int(masks.sum())
    # Its padding: of inputs what is behind the response, of labels one more, of masks what is behind the loss.
    behind_loss = int((length - masks.argmax(axis=2) - masks.sum(axis=2)).sum())
    sides = 2 * len(rows)
    assert 2 * counted["num_pad_tokens"] + sides + behind_loss == original["num_pad_tokens"]
    assert counted["document_tokens"] == counted["non_pad_tokens"] + statistics.dropped_tokens.total()


def _differ_by_begin_and_end(tokenizer: LoadedTokenizer, reference: Ids, ours: Ids) -> bool:
    """Cerebras puts an end-of-text id before a prompt if there is no begin-of-text id, and behind any other end."""
    (their_prompt, their_answer), (prompt, answer) = (
        (inputs[: mask.argmax() + 1].tolist(), labels[mask == 1].tolist()) for inputs, mask, labels in (reference, ours)
    )
    begin = [tokenizer.eos_id] if tokenizer.bos_id is None else []
    rest = tokenizer.decode(their_answer[len(answer) :])
    eos = "" if tokenizer.eos_id is None else tokenizer.decode([tokenizer.eos_id])
    return their_prompt == begin + prompt and their_answer[: len(answer)] == answer and rest.strip() in ("", eos)


@pytest.mark.parametrize("name", CASES)
def test_the_defects_show_only_in_pairs_that_are_cut_or_have_no_prompt(name: str) -> None:
    given = case(name)
    records = [record for share in chunks(given) for chunk in share for record in examples(given, chunk)]
    both = [np.concatenate(list(output(name, reference)[0].values())) for reference in (True, False)]
    assert both[0].shape == both[1].shape
    tokenizer = for_case(given)
    differ = np.array(
        [
            not all(
                _differ_by_begin_and_end(tokenizer, *(rows[pair, 3 * side :][:3] for rows in both)) for side in (0, 1)
            )
            for pair in range(len(both[0]))
        ]
    )
    with_lists = np.array([isinstance(record.chosen, list) for record in records])
    if all(record.prompt for record in records) or with_lists.all():
        cut = max(output(name, kind)[1].truncated_documents.total() for kind in (True, False))
        assert np.count_nonzero(differ) <= cut
    else:
        # The prompt stands twice in Cerebras' rows, so that they are longer.
        real = [np.count_nonzero(rows[:, [0, 3]] != post_process(name)["pad_id"], axis=(1, 2)) for rows in both]
        assert (real[1] < real[0]).all()


@pytest.mark.parametrize("name", CASES)
def test_rows_are_sane(name: str) -> None:
    files, statistics = output(name, False)
    rows = np.concatenate(list(files.values()))
    pad = for_case(case(name)).pad_id
    inputs, masks, labels = (rows[:, [n, n + 3]] for n in range(3))
    starts = masks.argmax(axis=2)
    ends = starts + masks.sum(axis=2)
    assert (np.diff(masks, axis=2) == -1).sum(axis=2).max() <= 1, "the loss is one stretch"
    for pair in range(len(rows)):
        first, second = (inputs[pair, side, : starts[pair, side] + 1] for side in (0, 1))
        np.testing.assert_array_equal(first, second)  # the prompt
        for side in (0, 1):
            start, end = starts[pair, side], ends[pair, side]
            np.testing.assert_array_equal(labels[pair, side, start:end], inputs[pair, side, start + 1 : end + 1])
            assert (labels[pair, side, :start] == pad).all() and (labels[pair, side, end:] == pad).all()
            assert (inputs[pair, side, end + 1 :] == pad).all()
    assert statistics.loss_valid_tokens == masks.sum()
    assert statistics.document_tokens == statistics.non_pad_tokens + statistics.dropped_tokens.total()
