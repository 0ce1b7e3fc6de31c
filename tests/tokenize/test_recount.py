"""Counts and faults from arrays: equal to the plain definitions, and no layout of Cerebras has a fault."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.modes.registry import MODES
from corpus_assets.tokenize.rows.layouts import ANSWERS, PACKED_ANSWERS, PACKED_TEXTS, PREFERENCES, TEXTS, Layout
from corpus_assets.tokenize.rows.recount import FAULTS, ArrayStatistics
from tests.golden import shared
from tests.tokenize.counting import count
from tests.tokenize.reference_reading import case, cases

EOS, PAD, VOCABULARY = 8, 9, 10
LENGTH = 12
Rows = NDArray[np.int32]
SIZES = (np.arange(10, 20, dtype=np.int32), np.arange(10, dtype=np.int32) % 3)
LAYOUTS = {mode.cerebras_name: mode.layout for mode in MODES if mode.section.cerebras_name}


def sequence(ids: list[int], length: int = LENGTH) -> list[list[int]]:
    """One padded language-modelling row."""
    padding = length + 1 - len(ids)
    return [
        ids[:-1] + [PAD] * padding,
        [1] * (len(ids) - 1) + [0] * padding,
        ids[1:] + [PAD] * padding,
    ]


def packed(sequences: list[list[int]], length: int = LENGTH) -> list[list[int]]:
    """One variable-length row of several sequences."""
    row: list[list[int]] = [[], [], [], [], []]
    for ids in sequences:
        labels = len(ids) - 1
        for channel, values in zip(
            row, (ids[:-1], [1] * labels, ids[1:], range(labels)[::-1], range(labels)), strict=True
        ):
            channel.extend(values)
    padding = length - len(row[0])
    return [channel + [filler] * padding for channel, filler in zip(row, (PAD, 0, PAD, 0, 0), strict=True)]


def preference(prompt: list[int], response: list[int], length: int = LENGTH) -> list[list[int]]:
    """One side: the labels of the prompt but the last are padding."""
    ids = prompt + response
    masked, padding = len(prompt) - 1, length - len(ids)
    return [
        ids + [PAD] * padding,
        [0] * masked + [1] * len(response) + [0] * (padding + 1),
        [PAD] * masked + response + [PAD] * (padding + 1),
    ]


def language_rows() -> Rows:
    full = [*range(8), 0, 1, 2, 3, EOS]
    return np.array([sequence([1, 2, 3, 4, EOS]), sequence([5, 6, EOS]), sequence(full)], np.int32)


def packed_rows() -> Rows:
    return np.array(
        [packed([[1, 2, 3, EOS], [4, EOS], [5, 6, 7, EOS]]), packed([[1, EOS]]), packed([[1] * 13])], np.int32
    )


def preference_rows() -> Rows:
    sides = [([1, 2, 3], [4, 5, EOS]), ([1, 2, 3], [6, EOS])]
    row = [channel for side in sides for channel in preference(*side)]
    return np.array([row, row], np.int32)


def faults(rows: Rows, layout: Layout, **options: Any) -> list[str]:
    return count([rows], layout, eos_id=EOS, pad_id=PAD, **{"vocab_size": VOCABULARY, **options}).faults


@given(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=LENGTH), max_size=8), st.integers(1, 9), st.booleans())
def test_counts_are_the_plain_definitions(token_lists: list[list[int]], step: int, inverted: bool) -> None:
    rows = np.array([sequence([*ids, EOS]) for ids in token_lists], np.int32).reshape(-1, 3, LENGTH)
    stored = rows.copy()
    if inverted:
        stored[:, 1] = 1 - stored[:, 1]
    blocks = [stored[first : first + step] for first in range(0, len(stored), step)]
    found = count(blocks, TEXTS, eos_id=EOS, pad_id=PAD, sizes=SIZES, inverted_mask=inverted)
    inputs = rows[:, 0]
    assert found.h5_dataset_stats() == {
        "num_sequences": len(rows),
        "num_tokens": inputs.size,
        "non_pad_tokens": int(np.count_nonzero((inputs != EOS) & (inputs != PAD))),
        "loss_valid_tokens": int(rows[:, 1].sum()),
        "detokenized_bytes": int(SIZES[0][inputs].sum()),
        "detokenized_chars": int(SIZES[1][inputs].sum()),
    }
    assert found.faults == []


def test_both_sides_of_a_preference_count() -> None:
    rows = preference_rows()
    found = count([rows], PREFERENCES, eos_id=EOS, pad_id=PAD, sizes=SIZES)
    assert found.faults == []
    assert found.counts.num_sequences == 2
    assert found.counts.num_tokens == 4 * LENGTH
    assert found.counts.loss_valid_tokens == int(rows[:, [1, 4]].sum()) == 10
    assert found.counts.detokenized_bytes == int(SIZES[0][rows[:, [0, 3]]].sum())
    assert found.counts.non_pad_tokens == 18


@given(st.lists(st.lists(st.integers(2, 6), min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_packed_rows_have_no_fault_until_one_value_changes(bins: list[list[int]], data: st.DataObject) -> None:
    length = 24
    rows = np.array([packed([[*([3] * (size - 1)), EOS] for size in sizes], length) for sizes in bins], np.int32)
    assert faults(rows, PACKED_TEXTS) == []
    row, channel = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.sampled_from([1, 3, 4]))
    position = data.draw(st.integers(0, length - 1))
    change = data.draw(st.sampled_from([-1, 1, 5]))
    # Padding in the loss, right after a document, looks like one more document: the recorded counts tell it.
    assume((channel, position, change) != (1, int(rows[row, 1].sum()), 1))
    rows[row, channel, position] += change
    assert faults(rows, PACKED_TEXTS)


def _set(rows: Rows, place: tuple[int, int, int], value: int) -> Rows:
    rows[place] = value
    return rows


@pytest.mark.parametrize(
    ("make", "layout", "place", "value", "fault"),
    [
        (language_rows, TEXTS, (0, 0, 3), -1, 0),
        (language_rows, TEXTS, (1, 2, 0), VOCABULARY, 0),
        (language_rows, ANSWERS, (1, 1, 0), 2, 1),
        (language_rows, ANSWERS, (1, 1, 5), -1, 1),
        (language_rows, ANSWERS, (0, 0, 2), 7, 2),
        (language_rows, TEXTS, (0, 2, 1), 7, 2),
        (language_rows, TEXTS, (0, 0, 9), 7, 2),
        (language_rows, TEXTS, (0, 1, 1), 0, 3),
        (packed_rows, PACKED_TEXTS, (0, 0, 1), 7, 2),
        (packed_rows, PACKED_TEXTS, (0, 1, 4), 0, 3),
        (packed_rows, PACKED_ANSWERS, (0, 4, 2), 0, 4),
        (packed_rows, PACKED_ANSWERS, (0, 3, 0), 1, 4),
        (packed_rows, PACKED_ANSWERS, (2, 3, 11), 1, 4),
        (packed_rows, PACKED_ANSWERS, (1, 4, 5), 3, 4),
        (preference_rows, PREFERENCES, (0, 2, 0), 4, 5),
        (preference_rows, PREFERENCES, (1, 1, 3), 0, 6),
        (preference_rows, PREFERENCES, (0, 5, 2), 3, 2),
        (preference_rows, PREFERENCES, (1, 3, 2), VOCABULARY, 0),
    ],
)
def test_faults_are_found_and_placed(
    make: Callable[[], Rows], layout: Layout, place: tuple[int, int, int], value: int, fault: int
) -> None:
    assert faults(make(), layout) == []
    found = faults(_set(make(), place, value), layout)
    assert f"{FAULTS[fault]} in 1 rows, the first is {place[0]}" in found


def test_first_faulty_row_is_counted_over_blocks() -> None:
    statistics = ArrayStatistics(TEXTS, EOS, PAD)
    for _ in range(3):
        statistics.add(language_rows())
    for _ in range(2):
        statistics.add(_set(language_rows(), (1, 1, 0), 0))
    assert statistics.faults == [f"{FAULTS[3]} in 2 rows, the first is 10"]


def test_watched_blocks_are_handed_on_one_by_one() -> None:
    statistics = ArrayStatistics(TEXTS, EOS, PAD)
    blocks = [language_rows(), language_rows()[:1]]
    for number, block in enumerate(statistics.watch(blocks)):
        assert block is blocks[number]
        assert statistics.counts.num_sequences == (3, 4)[number]


def test_ids_outside_the_tables_are_not_looked_up() -> None:
    rows = _set(language_rows(), (0, 0, 0), 2**31 - 1)
    found = count([rows], TEXTS, eos_id=EOS, pad_id=PAD, sizes=SIZES)
    assert found.faults == [f"{FAULTS[0]} in 1 rows, the first is 0"]
    assert found.counts.detokenized_bytes == int(SIZES[0][rows[1:, 0]].sum())


@pytest.mark.parametrize("layout", [TEXTS, PACKED_TEXTS, PREFERENCES])
def test_other_shapes_are_refused(layout: Layout) -> None:
    statistics = ArrayStatistics(layout, None, PAD)
    for shape in ((2, 4, 8), (2, 24), (2, 1, 3, 8)):
        with pytest.raises(ValueError, match="received a block of shape"):
            statistics.add(np.zeros(shape, np.int32))


def test_preferences_have_no_inverted_mask() -> None:
    with pytest.raises(ValueError, match="inverted_mask"):
        ArrayStatistics(PREFERENCES, EOS, PAD, inverted_mask=True)


@pytest.mark.parametrize("name", cases(*LAYOUTS))
def test_rows_of_the_original_have_no_fault(name: str) -> None:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    original, mode = json.loads(text)["post_process"], case(name)["mode"]
    ids = {key: original[key] for key in ("eos_id", "pad_id", "vocab_size")}
    # Language-modelling modes of Cerebras ignore the setting
    # (docs/formats/cerebras-rows.md "Defect: inverted_mask").
    inverted = mode.startswith("Summarization") and case(name)["dataset"].get("inverted_mask", False)
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        found = count((arrays[key] for key in arrays.files), LAYOUTS[mode], **ids, inverted_mask=inverted)
    assert found.faults == []
    assert found.counts.num_sequences == original["n_examples"]
    if mode == "DPO":  # docs/formats/cerebras-hdf5.md "Statistics", "Defect: padding is counted by id"
        assert 3 * found.counts.num_tokens == original["num_tokens"]
        return
    assert found.counts.num_tokens == original["num_tokens"]
    if inverted:  # Cerebras counts what it should have left out
        assert found.counts.num_tokens - found.counts.loss_valid_tokens == original["loss_valid_tokens"]
    else:
        assert found.counts.loss_valid_tokens == original["loss_valid_tokens"]
    if mode.startswith("Summarization"):  # the one mode with this definition
        assert found.counts.non_pad_tokens == original["non_pad_tokens"]
