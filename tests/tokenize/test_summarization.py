"""Pairs to rows: what is learned, what is counted, what is left out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.modes import turns
from corpus_assets.tokenize.modes.summarization import SummarizationSettings, summarization_rows, summarization_vsl_rows
from corpus_assets.tokenize.rows.vsl import PackingSettings
from corpus_assets.tokenize.statistics import Statistics
from resources.errors import ConfigError
from resources.formats.examples import Example
from tests.tokenize.tokenizers_for_tests import load

Rows = NDArray[np.int32]
SMALL = SummarizationSettings(sequence_length=64, minimum_length=2)
WORDS = st.text("ab \né<s>|", max_size=12)


def pair(prompt: str | None, completion: str | None) -> Example:
    return Example("", "", prompt=prompt, completion=completion)


def talk(*texts: str) -> Example:
    return Example("", "", messages=[{"role": "user", "content": text} for text in texts])


def rows(
    examples: Sequence[Example], given_settings: SummarizationSettings = SMALL, label: str = "tinyhf"
) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    blocks = summarization_rows(examples, load(label), given_settings, statistics)
    return np.concatenate([np.empty((0, 3, given_settings.sequence_length), np.int32), *blocks]), statistics


def packed(
    examples: Sequence[Example], given_settings: SummarizationSettings = SMALL, label: str = "tinyhf"
) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    packing = PackingSettings(given_settings.sequence_length, inverted_mask=given_settings.inverted_mask)
    blocks = summarization_vsl_rows(examples, load(label), given_settings, packing, statistics)
    return np.concatenate([np.empty((0, 5, given_settings.sequence_length), np.int32), *blocks]), statistics


def accounted(statistics: Statistics) -> int:
    known = statistics.loss_valid_tokens + statistics.unlearned_labels + statistics.dropped_tokens.total()
    return known + statistics.sequence_starts


def test_layout_of_a_row() -> None:
    tokenizer = load("tinyhf")
    given_settings = replace(
        SMALL,
        prompt_prefix="<|user|>",
        completion_prefix="<|assistant|>",
        separator="<|system|>",
        eos_after_prompt=True,
    )
    (row,), _ = rows([pair("one two", "three")], given_settings)
    prompt, completion = tokenizer.encode_plain(["one two", "three"])
    expected = [0, 4, *prompt, 1, 6, 5, *completion, 1]
    np.testing.assert_array_equal(row[0][: len(expected)], expected)
    assert (row[0][len(expected) :] == tokenizer.pad_id).all()
    np.testing.assert_array_equal(row[2][: len(expected) - 1], expected[1:])
    learned = row[2][row[1] == 1]
    np.testing.assert_array_equal(learned, [*completion, 1])


def test_every_pair_of_a_conversation_is_a_row_of_its_own() -> None:
    together, _ = rows([talk("a b", "c", "d", "e f")])
    apart, _ = rows([pair("a b", "c"), pair("d", "e f")])
    np.testing.assert_array_equal(together, apart)


def test_later_pairs_of_a_packed_conversation_have_no_begin() -> None:
    (row,), statistics = packed([talk("a b", "c", "d", "e f")])
    assert np.count_nonzero(row[0][: statistics.non_pad_tokens] == 0) == 1
    assert statistics.sequences_before_packing == 1
    np.testing.assert_array_equal(row[4][: statistics.non_pad_tokens], np.arange(statistics.non_pad_tokens))


def test_dirty_pairs_leave_the_others_alone() -> None:
    clean_rows, _ = rows([pair("a", "b"), pair("c", "d")])
    dirty, statistics = rows([pair("a", "b"), pair("", "x"), pair("y", None), pair(None, ""), pair("c", "d")])
    np.testing.assert_array_equal(clean_rows, dirty)
    assert statistics.discarded_documents == {"empty_prompt": 2, "empty_completion": 1}
    assert (statistics.processed_files, statistics.successful_files) == (5, 2)


def test_conversations_that_are_no_pairs_are_counted() -> None:
    odd = Example("", "", messages=[{"role": "user", "content": "a"}])
    number = Example("", "", messages=[{"role": "user", "content": 5}, {"role": "assistant", "content": "b"}])
    for make in (rows, packed):
        found, statistics = make([odd, number, Example("", "", messages=[]), pair("a", "b")])
        assert statistics.discarded_documents == {"odd_messages": 1, "not_text": 1, "no_messages": 1}
        assert (statistics.processed_files, len(found)) == (4, 1)


def test_packed_conversation_loses_only_its_empty_pairs() -> None:
    with_empty, statistics = packed([talk("", "x", "a", "b", "c", ""), talk("", "")])
    without, _ = packed([talk("a", "b")])
    np.testing.assert_array_equal(with_empty, without)
    assert statistics.dropped_sequences == {"empty_prompt": 1, "empty_completion": 1}
    assert statistics.discarded_documents == {"empty_prompt": 1}


def test_too_long_and_too_short_pairs_are_counted() -> None:
    given_settings = SummarizationSettings(sequence_length=16, minimum_length=8)
    found, statistics = rows([pair("a" * 30, "b" * 30), pair("a", "b"), pair("qzj qzj", "xkv")], given_settings)
    assert len(found) == 1
    assert statistics.discarded_documents == {"too_long": 1, "below_minimum_length": 1}
    assert accounted(statistics) == statistics.document_tokens


@pytest.mark.parametrize("rule", ["prompt_start", "prompt_end", "completion_end"])
def test_truncated_pairs_fill_the_row(rule: str) -> None:
    long = pair(" ".join(f"prompt {n}" for n in range(9)), " ".join(f"answer {n}" for n in range(9)))
    given_settings = SummarizationSettings(sequence_length=60, truncate=rule)  # type: ignore[arg-type]
    (row,), statistics = rows([long], given_settings)
    assert statistics.truncated_documents == {rule: 1}
    assert row[0][0] == 0  # the begin-of-text id stays
    assert statistics.non_pad_tokens == 60
    assert (row[0][59] == 1) == (rule != "completion_end")  # a cut answer does not end
    assert accounted(statistics) == statistics.document_tokens


def test_oldest_turns_keep_the_begin() -> None:
    given_settings = SummarizationSettings(sequence_length=24, minimum_length=2, truncate="oldest_turns")
    found, statistics = packed([talk("word " * 20, "x", "a b", "c")], given_settings)
    alone, _ = packed([talk("a b", "c")], given_settings)
    np.testing.assert_array_equal(found, alone)
    assert statistics.truncated_documents == {"oldest_turns": 1}
    assert accounted(statistics) == statistics.document_tokens
    with pytest.raises(ConfigError, match="pairs by themselves"):
        rows([], given_settings)


def test_separator_must_be_there() -> None:
    with pytest.raises(ConfigError, match="separator is '<none>'"):
        rows([], replace(SMALL, separator="<none>"))


@pytest.mark.parametrize(
    "wrong",
    [{"sequence_length": 0}, {"minimum_length": 65}, {"truncate": "all"}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_settings_say_what_is_valid(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="valid:"):
        replace(SMALL, **wrong)  # type: ignore[arg-type]


def test_packing_must_agree() -> None:
    with pytest.raises(ConfigError, match="the same in both"):
        list(summarization_vsl_rows([], load("tiny"), SMALL, PackingSettings(65), Statistics()))


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.lists(WORDS, min_size=2, max_size=6), max_size=12), inverted=st.booleans())
def test_laws_of_rows(texts: list[list[str]], inverted: bool) -> None:
    examples = [talk(*listed) for listed in texts]
    given_settings = replace(SMALL, sequence_length=24, inverted_mask=inverted)
    for make in (rows, packed):
        found, statistics = make(examples, given_settings)
        mask = found[:, 1] ^ int(inverted)
        assert mask.sum() == statistics.loss_valid_tokens
        assert found[:, 0].size == statistics.num_tokens
        inputs, labels = found[:, 0, 1:], found[:, 2, :-1]
        inside = found[:, 4, 1:] > 0 if found.shape[1] == 5 else mask[:, :-1] == 1
        assert (inputs[inside] == labels[inside]).all()
        assert accounted(statistics) == statistics.document_tokens
        discarded = statistics.discarded_documents.total()
        assert statistics.processed_files == statistics.successful_files + discarded


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.tuples(WORDS, WORDS), max_size=10), size=st.integers(1, 30))
def test_batches_have_no_influence(texts: list[tuple[str, str]], size: int) -> None:
    examples = [pair(*listed) for listed in texts]
    usual = rows(examples), packed(examples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "BATCH_CHARACTERS", size)
        small = rows(examples), packed(examples)
    for (one, counted), (other, recounted) in zip(usual, small, strict=True):
        np.testing.assert_array_equal(one, other)
        assert counted == recounted


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.tuples(WORDS.filter(bool), WORDS.filter(bool)), max_size=10))
def test_every_pair_is_there_once(texts: list[tuple[str, str]]) -> None:
    found, _ = rows([pair(*listed) for listed in texts], label="tiny")
    tokenizer = load("tiny")
    expected = [[*tokenizer.encode_batch([completion])[0].tolist(), tokenizer.eos_id] for _, completion in texts]
    assert [row[2][row[1] == 1].tolist() for row in found] == expected
