"""Windows, packing and rows: the token stream is cut without gap, whatever the block size."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.tokenize.lmdata import LMDataSettings, RowBuilder, lmdata_rows
from corpus_assets.tokenize.statistics import Statistics, recount
from resources.errors import ConfigError

EOS, PAD = 1000, 1001
Rows = NDArray[np.int32]

documents = st.lists(st.lists(st.integers(0, 999), max_size=40), max_size=12)
lengths = st.integers(1, 17)


def rows_of(
    token_lists: list[list[int]],
    settings: LMDataSettings,
    eos_id: int | None = EOS,
    statistics: Statistics | None = None,
) -> Rows:
    blocks = list(lmdata_rows(token_lists, settings, eos_id, PAD, statistics))
    return np.concatenate([np.empty((0, 3, settings.sequence_length), np.int32), *blocks])


def windows_by_hand(ids: list[int], length: int) -> list[list[int]]:
    """Section 4 word for word, one window at a time."""
    windows = [ids[start : start + length + 1] for start in range(0, len(ids), length)]
    return windows[:-1] if windows and len(windows[-1]) < 2 else windows


def row_by_hand(window: list[int], length: int) -> list[list[int]]:
    padding = length + 1 - len(window)
    mask = [1] * (len(window) - 1) + [0] * padding
    return [window[:-1] + [PAD] * padding, mask, window[1:] + [PAD] * padding]


@given(documents, lengths, st.sampled_from([EOS, None]))
def test_packed_rows_are_the_stream(token_lists: list[list[int]], length: int, eos_id: int | None) -> None:
    end = [] if eos_id is None else [eos_id]
    stream = [token for ids in token_lists for token in ids + end]
    rows = rows_of(token_lists, LMDataSettings(length, min_sequence_length=2), eos_id)
    real = rows[:, 1].reshape(-1) == 1
    assert rows[:, 2].reshape(-1)[real].tolist() == stream[1:]
    assert rows[:, 0].reshape(-1)[real].tolist() == (stream[:-1] if len(stream) > 1 else [])
    assert (rows[:, [0, 2]].transpose(0, 2, 1).reshape(-1, 2)[~real] == PAD).all()
    assert np.count_nonzero(~real) < length  # only the last row is padded


@given(documents, lengths, st.integers(0, 18))
def test_separate_rows_equal_the_plain_rule(token_lists: list[list[int]], length: int, minimum: int) -> None:
    minimum = min(minimum, length + 1)
    settings = LMDataSettings(length, pack=False, min_sequence_length=minimum)
    windows = [window for ids in token_lists for window in windows_by_hand([*ids, EOS], length)]
    expected = [row_by_hand(window, length) for window in windows if len(window) >= minimum]
    assert rows_of(token_lists, settings).tolist() == expected


@given(documents, lengths, st.booleans(), st.integers(1, 5), st.integers(0, 12))
def test_blocks_and_chunks_of_documents_do_not_matter(
    token_lists: list[list[int]], length: int, pack: bool, block_rows: int, cut: int
) -> None:
    probability = 0.4 if length > 2 else 0.0
    settings = LMDataSettings(length, pack=pack, min_sequence_length=2, short_sequence_probability=probability, seed=5)
    builder = RowBuilder(settings, EOS, PAD, Statistics(), block_rows)
    blocks = [*builder.rows(token_lists[:cut]), *builder.rows(token_lists[cut:]), *builder.finish()]
    assert all(len(block) <= block_rows for block in blocks)
    joined = np.concatenate([np.empty((0, 3, length), np.int32), *blocks])
    np.testing.assert_array_equal(joined, rows_of(token_lists, settings))


@given(documents, lengths, st.booleans(), st.booleans(), st.booleans())
def test_statistics_account_for_every_token(
    token_lists: list[list[int]], length: int, pack: bool, keep_tail: bool, inverted: bool
) -> None:
    settings = LMDataSettings(
        length,
        pack=pack,
        keep_tail=keep_tail,
        min_sequence_length=min(4, length + 1),
        short_sequence_probability=0.3 if length > 2 else 0.0,
        inverted_mask=inverted,
    )
    statistics = Statistics()
    rows = rows_of(token_lists, settings, EOS, statistics)
    assert statistics.unaccounted_tokens == 0
    assert statistics.document_tokens == sum(len(ids) + 1 for ids in token_lists)
    assert statistics.loss_valid_tokens == np.count_nonzero(rows[:, 1] == (0 if inverted else 1))
    counted = recount([rows], inverted)
    for key in ("n_examples", "num_tokens", "loss_valid_tokens", "num_masked_tokens", "non_pad_tokens"):
        assert getattr(counted, key) == getattr(statistics, key)
    assert counted.num_pad_tokens == statistics.num_pad_tokens


@given(documents, lengths)
def test_labels_are_inputs_shifted(token_lists: list[list[int]], length: int) -> None:
    rows = rows_of(token_lists, LMDataSettings(length, min_sequence_length=2))
    for inputs, mask, labels in rows:
        real = int(mask.sum())
        assert inputs[1:real].tolist() == labels[: real - 1].tolist()
    for one, following in pairwise(rows):
        assert one[2, -1] == following[0, 0]


def test_dropped_rows_are_counted_by_reason() -> None:
    statistics = Statistics()
    settings = LMDataSettings(8, pack=False, min_sequence_length=5)
    rows = rows_of([[], [1], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8, 9]], settings, EOS, statistics)
    assert len(rows) == 2
    assert statistics.discarded_documents == {"no_label": 1, "below_min_sequence_length": 1}
    assert statistics.discarded_files == 2
    assert statistics.dropped_sequences == {"below_min_sequence_length": 2}
    assert statistics.dropped_tokens == {"below_min_sequence_length": 2}


def test_packed_tail_is_kept_or_counted() -> None:
    ids = [list(range(10))]
    assert rows_of(ids, LMDataSettings(6))[-1].tolist() == row_by_hand([6, 7, 8, 9, EOS], 6)
    statistics = Statistics()
    assert len(rows_of(ids, LMDataSettings(6, keep_tail=False), EOS, statistics)) == 1
    assert statistics.dropped_tokens == {"packed_tail": 4}


def test_inverted_mask_marks_padding() -> None:
    plain = rows_of([[1, 2, 3]], LMDataSettings(8, min_sequence_length=2))
    inverted = rows_of([[1, 2, 3]], LMDataSettings(8, min_sequence_length=2, inverted_mask=True))
    assert inverted[:, 1].tolist() == (1 - plain[:, 1]).tolist()
    assert inverted[:, [0, 2]].tolist() == plain[:, [0, 2]].tolist()


def test_keyed_short_sequences_follow_the_window_alone() -> None:
    settings = LMDataSettings(32, pack=False, short_sequence_probability=0.25, seed=3)
    generator = random.Random(1)
    token_lists = [[generator.randrange(999) for _ in range(32)] for _ in range(2000)]
    rows = rows_of(token_lists, settings)
    shortened = rows[:, 1].sum(axis=1) < 32
    assert 0.21 < shortened.mean() < 0.29
    assert set((rows[shortened][:, 1].sum(axis=1) + 1).tolist()) == set(range(2, 32))
    np.testing.assert_array_equal(rows_of(token_lists[::-1], settings)[::-1], rows)
    other_seed = LMDataSettings(32, pack=False, short_sequence_probability=0.25, seed=4)
    assert (rows_of(token_lists, other_seed)[:, 1] != rows[:, 1]).any()


def test_no_documents_give_no_rows() -> None:
    assert list(lmdata_rows([], LMDataSettings(8), EOS, PAD)) == []
    assert list(lmdata_rows([], LMDataSettings(8, pack=False), EOS, PAD)) == []


def test_rows_stream() -> None:
    """The first block comes before the documents end."""
    asked = 0

    def endless() -> Iterator[NDArray[np.int32]]:
        nonlocal asked
        while True:
            asked += 1
            yield np.arange(5000, dtype=np.int32)

    block = next(lmdata_rows(endless(), LMDataSettings(1024), EOS, PAD))
    assert block.shape[1:] == (3, 1024)
    assert asked < 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence_length": 0},
        {"sequence_length": 8, "min_sequence_length": 10},
        {"sequence_length": 8, "short_sequence_probability": 1.5},
        {"sequence_length": 2, "min_sequence_length": 2, "short_sequence_probability": 0.5},
        {"sequence_length": 8, "split_text": 0},
    ],
)
def test_impossible_settings_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="valid"):
        LMDataSettings(**arguments)
