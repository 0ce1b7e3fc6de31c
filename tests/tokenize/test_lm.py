"""Windows, packing and rows: the token stream is cut without gap, whatever the block size."""

import random
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import LMDataset
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.lm import RowBuilder, lm_rows
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.rows.layouts import TEXTS
from tests.tokenize.counting import count
from tests.tokenize.sections import lm

EOS, PAD = 1000, 1001
Rows = NDArray[np.int32]

documents = st.lists(st.lists(st.integers(0, 999), max_size=40), max_size=12)
lengths = st.integers(1, 17)


def rows_of(
    token_lists: list[list[int]],
    section: LMDataset,
    eos_id: int | None = EOS,
    statistics: Statistics | None = None,
) -> Rows:
    blocks = list(lm_rows([Ragged.of(token_lists)], section, eos_id, PAD, statistics))
    return np.concatenate([np.empty((0, 3, section.sequence_length), np.int32), *blocks])


def windows_by_hand(ids: list[int], length: int) -> list[list[int]]:
    """docs/formats/cerebras-rows.md "LMData" word for word, one window at a time."""
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
    rows = rows_of(token_lists, lm(length, minimum_length=2), eos_id)
    real = rows[:, 1].reshape(-1) == 1
    assert rows[:, 2].reshape(-1)[real].tolist() == stream[1:]
    assert rows[:, 0].reshape(-1)[real].tolist() == (stream[:-1] if len(stream) > 1 else [])
    assert (rows[:, [0, 2]].transpose(0, 2, 1).reshape(-1, 2)[~real] == PAD).all()
    assert np.count_nonzero(~real) < length  # only the last row is padded


@given(documents, lengths, st.integers(0, 18))
def test_separate_rows_equal_the_plain_rule(token_lists: list[list[int]], length: int, minimum: int) -> None:
    minimum = min(minimum, length + 1)
    settings = lm(length, pack=False, minimum_length=minimum)
    windows = [window for ids in token_lists for window in windows_by_hand([*ids, EOS], length)]
    expected = [row_by_hand(window, length) for window in windows if len(window) >= minimum]
    assert rows_of(token_lists, settings).tolist() == expected


@given(documents, lengths, st.booleans(), st.integers(1, 5), st.integers(0, 12))
def test_blocks_batches_and_streams_do_not_matter(
    token_lists: list[list[int]], length: int, pack: bool, block_rows: int, cut: int
) -> None:
    one = [Ragged.of([ids]) for ids in token_lists[:cut]]
    whole = Ragged.of(token_lists)
    other = Ragged(whole.ids, whole.offsets[min(cut, len(token_lists)) :])  # a part of a larger batch
    probability = 0.4 if length > 2 else 0.0
    settings = lm(length, pack=pack, minimum_length=2, short_sequence_probability=probability, seed=5)
    builder = RowBuilder(settings, EOS, PAD, Statistics(), block_rows)
    blocks = [*builder.rows(one), *builder.rows([other]), *builder.finish()]
    assert all(len(block) <= block_rows for block in blocks)
    joined = np.concatenate([np.empty((0, 3, length), np.int32), *blocks])
    np.testing.assert_array_equal(joined, rows_of(token_lists, settings))


@given(documents, lengths, st.booleans(), st.booleans(), st.booleans())
def test_statistics_account_for_every_token(
    token_lists: list[list[int]], length: int, pack: bool, keep_tail: bool, inverted: bool
) -> None:
    settings = lm(
        length,
        pack=pack,
        keep_tail=keep_tail,
        minimum_length=min(4, length + 1),
        short_sequence_probability=0.3 if length > 2 else 0.0,
        inverted_mask=inverted,
    )
    statistics = Statistics()
    rows = rows_of(token_lists, settings, EOS, statistics)
    assert statistics.unaccounted_tokens == 0
    assert statistics.document_tokens == sum(len(ids) + 1 for ids in token_lists)
    assert statistics.loss_valid_tokens == np.count_nonzero(rows[:, 1] == (0 if inverted else 1))
    assert statistics.num_masked_tokens == statistics.num_pad_tokens == rows[:, 1].size - statistics.loss_valid_tokens
    counted = count([rows], TEXTS, eos_id=EOS, pad_id=PAD, inverted_mask=inverted)
    assert not counted.faults
    assert counted.counts.num_sequences == statistics.n_examples == len(rows)
    assert counted.counts.num_tokens == statistics.num_tokens == rows[:, 0].size
    assert counted.counts.loss_valid_tokens == statistics.loss_valid_tokens


@given(documents, lengths)
def test_labels_are_inputs_shifted(token_lists: list[list[int]], length: int) -> None:
    rows = rows_of(token_lists, lm(length, minimum_length=2))
    for inputs, mask, labels in rows:
        real = int(mask.sum())
        assert inputs[1:real].tolist() == labels[: real - 1].tolist()
    for one, following in pairwise(rows):
        assert one[2, -1] == following[0, 0]


def test_dropped_rows_are_counted_by_reason() -> None:
    statistics = Statistics()
    settings = lm(8, pack=False, minimum_length=5)
    rows = rows_of([[], [1], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8, 9]], settings, EOS, statistics)
    assert len(rows) == 2
    assert statistics.discarded_documents == {"no_label": 1, "below_minimum_length": 1}
    assert statistics.discarded_files == 2
    assert statistics.dropped_sequences == {"below_minimum_length": 2}
    assert statistics.dropped_tokens == {"below_minimum_length": 2}


def test_packed_tail_is_kept_or_counted() -> None:
    ids = [list(range(10))]
    assert rows_of(ids, lm(6))[-1].tolist() == row_by_hand([6, 7, 8, 9, EOS], 6)
    statistics = Statistics()
    assert len(rows_of(ids, lm(6, keep_tail=False), EOS, statistics)) == 1
    assert statistics.dropped_tokens == {"packed_tail": 4}


def test_inverted_mask_marks_padding() -> None:
    plain = rows_of([[1, 2, 3]], lm(8, minimum_length=2))
    inverted = rows_of([[1, 2, 3]], lm(8, minimum_length=2, inverted_mask=True))
    assert inverted[:, 1].tolist() == (1 - plain[:, 1]).tolist()
    assert inverted[:, [0, 2]].tolist() == plain[:, [0, 2]].tolist()


def test_keyed_short_sequences_follow_the_window_alone() -> None:
    settings = lm(32, pack=False, short_sequence_probability=0.25, seed=3)
    generator = random.Random(1)
    token_lists = [[generator.randrange(999) for _ in range(32)] for _ in range(2000)]
    rows = rows_of(token_lists, settings)
    shortened = rows[:, 1].sum(axis=1) < 32
    assert 0.21 < shortened.mean() < 0.29
    assert set((rows[shortened][:, 1].sum(axis=1) + 1).tolist()) == set(range(2, 32))
    np.testing.assert_array_equal(rows_of(token_lists[::-1], settings)[::-1], rows)
    other_seed = lm(32, pack=False, short_sequence_probability=0.25, seed=4)
    assert (rows_of(token_lists, other_seed)[:, 1] != rows[:, 1]).any()


def test_long_document_streams_in_blocks() -> None:
    document = np.arange(1_000_003, dtype=np.int32) % 900
    for pack in (True, False):
        builder = RowBuilder(lm(100, pack=pack, minimum_length=2), EOS, PAD, Statistics(), block_rows=64)
        blocks = [*builder.rows([Ragged.of([document])]), *builder.finish()]
        assert max(map(len, blocks)) == 64
        assert not any(np.shares_memory(one, following) for one, following in pairwise(blocks))
        rows = np.concatenate(blocks)
        labels = rows[:, 2][rows[:, 1] == 1]
        assert np.array_equal(labels, [*document[1:], EOS])


def test_ids_that_cannot_be_written_to_are_read() -> None:
    ids = np.frombuffer(np.arange(50, dtype=np.int32).tobytes(), np.int32)
    for pack in (True, False):
        blocks = list(lm_rows([Ragged(ids, np.array([0, 20, 50]))], lm(30, pack=pack), EOS, PAD))
        np.testing.assert_array_equal(
            np.concatenate(blocks), rows_of([ids[:20].tolist(), ids[20:].tolist()], lm(30, pack=pack))
        )


def test_no_documents_give_no_rows() -> None:
    assert list(lm_rows([], lm(8), EOS, PAD)) == []
    assert list(lm_rows([], lm(8, pack=False), EOS, PAD)) == []
    assert list(lm_rows([Ragged.of([])], lm(8), EOS, PAD)) == []
    assert list(lm_rows([Ragged.of([[], []])], lm(8, pack=False), EOS, PAD)) == []


def test_rows_stream() -> None:
    """The first block comes before the documents end."""
    asked = 0

    def endless() -> Iterator[Ragged]:
        nonlocal asked
        while True:
            asked += 1
            yield Ragged.of([np.arange(5000)])

    block = next(lm_rows(endless(), lm(1024), EOS, PAD))
    assert block.shape[1:] == (3, 1024)
    assert asked < 200
