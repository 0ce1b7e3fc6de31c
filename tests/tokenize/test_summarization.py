"""Pairs to rows: what is learned, what is counted, what is left out."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes import turns
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.modes.summarization import summarization_rows, summarization_vsl_rows
from resources.errors import ConfigError
from resources.formats.examples import Example, keys_beside
from tests.tokenize.sections import summarization, summarization_vsl
from tests.tokenize.tokenizers_for_tests import load

Rows = NDArray[np.int32]
SMALL: dict[str, Any] = {"length": 64, "minimum_length": 2}
WORDS = st.text("ab \né<s>|", max_size=12)


def pair(prompt: str | None, completion: str | None) -> Example:
    return Example("", "", prompt=prompt, completion=completion)


def talk(*texts: str) -> Example:
    return Example("", "", messages=[{"role": "user", "content": text} for text in texts])


def rows(examples: Sequence[Example], label: str = "tinyhf", **options: Any) -> tuple[Rows, Statistics]:
    section, statistics = summarization(**(SMALL | options)), Statistics()
    blocks = summarization_rows(section, examples, Tools(load(label), statistics))
    return np.concatenate([np.empty((0, 3, section.sequence_length), np.int32), *blocks]), statistics


def packed(examples: Sequence[Example], label: str = "tinyhf", **options: Any) -> tuple[Rows, Statistics]:
    section, statistics = summarization_vsl(**(SMALL | options)), Statistics()
    blocks = summarization_vsl_rows(section, examples, Tools(load(label), statistics))
    return np.concatenate([np.empty((0, 5, section.sequence_length), np.int32), *blocks]), statistics


def accounted(statistics: Statistics) -> int:
    known = statistics.loss_valid_tokens + statistics.unlearned_labels + statistics.dropped_tokens.total()
    return known + statistics.sequence_starts


def test_keys_of_rows_that_nothing_reads_are_counted() -> None:
    beside = [b'{"input": "text", "tools": null}', b'{"input": "", "url": "u"}', b"{}"]
    given = [Example(str(n), "", prompt="a", completion="b", metadata=msgspec.Raw(one)) for n, one in enumerate(beside)]
    for make in (rows, packed):
        assert make(given)[1].unread_keys == {"input": 2, "url": 1}
    many = msgspec.Raw(msgspec.json.encode({f"key-{n}": n for n in range(20_000)}))
    counted = Statistics()
    for keys in (["input"], keys_beside(Example("", "", metadata=many)), ["input", "another"]):
        counted.note_unread(keys)
    assert counted.unread_keys["input"] == 2
    assert "another" not in counted.unread_keys


def test_layout_of_a_row() -> None:
    tokenizer = load("tinyhf")
    texts = {"prompt_prefix": "<|user|>", "completion_prefix": "<|assistant|>", "separator": "<|system|>"}
    prompt, completion = tokenizer.encode_plain(["one two", "three"])
    padded, packed_row = [0, 4, *prompt, 6, 5, *completion, 1], [0, 4, *prompt, 1, 6, 5, *completion, 1]
    (row,), _ = rows([pair("one two", "three")], **texts)
    np.testing.assert_array_equal(row[0][: len(padded)], padded)
    assert (row[0][len(padded) :] == tokenizer.pad_id).all()
    np.testing.assert_array_equal(row[2][: len(padded) - 1], padded[1:])
    (other,), _ = packed([pair("one two", "three")], **texts, eos_after_prompt=True)
    np.testing.assert_array_equal(other[0][: len(packed_row) - 1], packed_row[:-1])
    np.testing.assert_array_equal(other[2][: len(packed_row) - 1], packed_row[1:])
    for found in (row, other):
        np.testing.assert_array_equal(found[2][found[1] == 1], [*completion, 1])


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
    examples = [pair("a" * 30, "b" * 30), pair("a", "b"), pair("qzj qzj", "xkv")]
    found, statistics = rows(examples, length=16, minimum_length=8)
    assert len(found) == 1
    assert statistics.discarded_documents == {"too_long": 1, "below_minimum_length": 1}
    assert accounted(statistics) == statistics.document_tokens


@pytest.mark.parametrize("rule", ["prompt_start", "prompt_end", "completion_end"])
def test_truncated_pairs_fill_the_row(rule: str) -> None:
    long = pair(" ".join(f"prompt {n}" for n in range(9)), " ".join(f"answer {n}" for n in range(9)))
    (row,), statistics = rows([long], length=60, minimum_length=6, truncate=rule)
    assert statistics.truncated_documents == {rule: 1}
    assert row[0][0] == 0  # the begin-of-text id stays
    assert statistics.non_pad_tokens == 60
    assert (row[0][59] == 1) == (rule != "completion_end")  # a cut answer does not end
    assert accounted(statistics) == statistics.document_tokens


def test_oldest_turns_keep_the_begin() -> None:
    options: dict[str, Any] = {"length": 24, "truncate": "oldest_turns"}
    found, statistics = packed([talk("word " * 20, "x", "a b", "c")], **options)
    alone, _ = packed([talk("a b", "c")], **options)
    np.testing.assert_array_equal(found, alone)
    assert statistics.truncated_documents == {"oldest_turns": 1}
    assert accounted(statistics) == statistics.document_tokens


def test_separator_must_be_there() -> None:
    with pytest.raises(ConfigError, match="separator is '<none>'"):
        rows([], separator="<none>")


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.lists(WORDS, min_size=2, max_size=6), max_size=12), inverted=st.booleans())
def test_laws_of_rows(texts: list[list[str]], inverted: bool) -> None:
    examples = [talk(*listed) for listed in texts]
    for make in (rows, packed):
        found, statistics = make(examples, length=24, inverted_mask=inverted)
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
