"""What is counted by source: ids and labels of the rows themselves, and sums that are those of the whole file."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.modes import DatasetSection
from corpus_assets.tokenize.counts.by_source import BySource, Runs
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.mode import IdentifiedText, Tools
from corpus_assets.tokenize.modes.registry import mode_of
from tests.tokenize.byte_tokenizer import ByteTokenizer
from tests.tokenize.sections import fim, lm, lm_vsl, window

SOURCES = "abc"
"""A text of a source is made of its letter alone, so that ids say where they come from."""

DOCUMENTS = st.lists(st.tuples(st.sampled_from(SOURCES), st.integers(0, 40)), max_size=14)
SHORT = st.sampled_from([{}, {"short_sequence_probability": 0.5, "short_sequence_draws": "keyed"}])
SECTIONS = st.one_of(
    st.builds(
        lambda minimum, tail, more: lm(8, minimum_length=minimum, keep_tail=tail, **more),
        st.integers(2, 6),
        st.booleans(),
        SHORT,
    ),
    st.builds(lambda minimum, more: lm(8, pack=False, minimum_length=minimum, **more), st.integers(2, 6), SHORT),
    st.builds(
        lambda minimum, long, more: lm_vsl(8, minimum_length=minimum, long_documents=long, **window(20), **more),
        st.integers(2, 6),
        st.sampled_from(["fold", "cut", "drop"]),
        SHORT,
    ),
)


def made(section: DatasetSection, documents: list[tuple[str, int]], **tokenizer: Any) -> tuple[list[Any], Statistics]:
    texts = [IdentifiedText(str(n), letter * size, source=letter) for n, (letter, size) in enumerate(documents)]
    spoken, statistics = ByteTokenizer(), Statistics()
    for name, value in tokenizer.items():
        setattr(spoken, name, value)
    return list(mode_of(section).rows(section, texts, Tools(spoken, statistics))), statistics


def assert_sums(statistics: Statistics, documents: list[tuple[str, int]]) -> dict[str, dict[str, int]]:
    found = statistics.sources.totals()
    assert list(found) == sorted({letter for letter, _ in documents})
    for letter, numbers in found.items():
        sizes = [size for source, size in documents if source == letter]
        assert (numbers["documents"], numbers["text_bytes"]) == (len(sizes), sum(sizes))
    sums = Counter[str]()
    for numbers in found.values():
        sums.update(numbers)
    assert sums["documents"] == statistics.processed_files
    assert sums["text_bytes"] == statistics.raw_bytes_count
    if statistics.sources.loss_known:
        assert sums["tokens"] == statistics.document_tokens
        assert sums["loss_tokens"] == statistics.loss_valid_tokens
    return found


@settings(deadline=None)
@given(SECTIONS, DOCUMENTS)
def test_labels_in_the_loss_are_those_of_the_rows(section: DatasetSection, documents: list[tuple[str, int]]) -> None:
    blocks, statistics = made(section, documents, eos_id=None)
    learned = Counter[str]()
    for block in blocks:
        learned.update(map(chr, block[:, 2][block[:, 1] == 1].tolist()))
    found = assert_sums(statistics, documents)
    assert {letter: numbers["loss_tokens"] for letter, numbers in found.items()} == {
        letter: learned[letter] for letter in found
    }
    assert {letter: numbers["tokens"] for letter, numbers in found.items()} == {
        letter: sum(size for source, size in documents if source == letter) for letter in found
    }


@settings(deadline=None)
@given(SECTIONS, DOCUMENTS)
def test_separators_belong_to_the_document_before_them(
    section: DatasetSection, documents: list[tuple[str, int]]
) -> None:
    _, statistics = made(section, documents)
    for letter, numbers in assert_sums(statistics, documents).items():
        sizes = [size + 1 for source, size in documents if source == letter and size]
        assert numbers["tokens"] == sum(sizes)


@settings(deadline=None)
@given(DOCUMENTS, st.sampled_from(["document", "row"]), st.booleans())
def test_rearranged_documents_are_counted_with_their_control_tokens(
    documents: list[tuple[str, int]], level: str, packed: bool
) -> None:
    _, statistics = made(fim(32, fim_level=level, pack=packed, fim_rate=0.5), documents)
    found = assert_sums(statistics, documents)
    for letter, numbers in found.items():
        assert ("loss_tokens" in numbers) == (level == "document")
        if level == "row":  # The ids are those before passages of rows are rearranged.
            assert numbers["tokens"] == sum(size + 1 for source, size in documents if source == letter and size)


def test_a_text_without_a_place_to_cut_has_no_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before and after it keep theirs."""
    monkeypatch.setattr("corpus_assets.tokenize.encode.texts.BATCH_CHARACTERS", 30)
    monkeypatch.setattr("corpus_assets.tokenize.encode.texts.encode_long", lambda *_, **__: None)
    documents = [("a", 3), ("b", 100), ("c", 5), ("a", 2), ("b", 7)]
    _, statistics = made(lm(8), documents)
    found = assert_sums(statistics, documents)
    assert {letter: numbers["tokens"] for letter, numbers in found.items()} == {"a": 7, "b": 8, "c": 6}


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=4)), st.data())
def test_runs_are_taken_in_order(added: list[list[tuple[int, int]]], data: st.DataObject) -> None:
    runs, expected = Runs(), list[int]()
    for one in added:
        runs.add(np.array([number for number, _ in one], np.int64), np.array([size for _, size in one], np.int64))
        expected += [number for number, size in one for _ in range(size)]
        count = data.draw(st.integers(0, len(expected)))
        assert np.repeat(*runs.take(count)).tolist() == expected[:count]
        del expected[:count]
    assert np.repeat(*runs.take(len(expected))).tolist() == expected


def test_ids_of_which_nobody_said_the_source_have_none() -> None:
    sources = BySource()
    sources.read("a")
    assert sources.ids(np.array([3, 4])).tolist() == [0, 1]
    assert {name: numbers["tokens"] for name, numbers in sources.totals().items()} == {"": 4, "a": 3}
