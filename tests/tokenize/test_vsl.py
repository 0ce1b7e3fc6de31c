import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import VSLDataset
from corpus_assets.config.datasets.options import Packed
from corpus_assets.packing.bins import METHODS, pack
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.lm_vsl import lm_vsl_rows
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ragged
from corpus_assets.tokenize.rows.vsl import VSLPacker
from tests.tokenize.sections import lm_vsl, window

PAD, EOS = 99, 98
Pairs = list[tuple[list[int], list[int]]]
Rows = NDArray[np.int32]


def joined(blocks: Iterable[Rows], length: int) -> Rows:
    return np.concatenate([np.empty((0, 5, length), np.int32), *blocks])


def packed(pairs: Pairs, section: Packed, cuts: list[int], statistics: Statistics | None = None) -> Rows:
    """Rows of pairs of ids and masks, given to the packer in parts."""
    packer = VSLPacker(section, PAD, statistics or Statistics())
    blocks = list[Rows]()
    borders = sorted({0, len(pairs), *(cut % (len(pairs) + 1) for cut in cuts)})
    for first, last in itertools.pairwise(borders):
        tokens, masks = (Ragged.of(part) for part in zip(*pairs[first:last], strict=True))
        blocks += packer.add(tokens, masks)
    return joined([*blocks, *packer.finish()], section.sequence_length)


def row(sequences: Pairs, length: int, inverted: bool) -> list[list[int]]:
    """docs/formats/packing.md "Channels of a packed row", one position after the other."""
    channels: list[list[int]] = [[], [], [], [], []]
    for ids, mask in sequences:
        size = len(ids) - 1
        for i in range(size):
            values = (ids[i], 1 - mask[i] if inverted else mask[i], ids[i + 1], size - 1 - i, i)
            for channel, value in zip(channels, values, strict=True):
                channel.append(value)
    padding = (PAD, int(inverted), PAD, 0, 0)
    return [channel + [fill] * (length - len(channel)) for channel, fill in zip(channels, padding, strict=True)]


def sequences_of(rows: Rows) -> Pairs:
    """The sequences that rows hold, in order; the mask as stored."""
    found: Pairs = []
    for inputs, mask, labels, span, positions in rows.tolist():
        at = 0
        while at < len(inputs) and inputs[at] != PAD:
            size = span[at] + 1
            assert positions[at : at + size] == list(range(size))
            assert span[at : at + size] == list(range(size))[::-1]
            assert labels[at : at + size - 1] == inputs[at + 1 : at + size]
            found.append(([*inputs[at : at + size], labels[at + size - 1]], mask[at : at + size]))
            at += size
        assert set(inputs[at:]) | set(labels[at:]) <= {PAD}
        assert not any(span[at:] + positions[at:])
    return found


@st.composite
def streams(draw: st.DrawFn) -> tuple[Pairs, int]:
    length = draw(st.integers(1, 24))
    sizes = draw(st.lists(st.integers(2, length + 1), max_size=40))
    chance = random.Random(draw(st.integers(0, 9)))
    return [
        ([chance.randrange(90) for _ in range(size)], [chance.randrange(2) for _ in range(size)]) for size in sizes
    ], length


CUTS = st.lists(st.integers(0, 40), max_size=4)
WINDOWS = st.none() | st.integers(1, 200)


@given(streams(), CUTS, st.booleans(), st.sampled_from(METHODS))
def test_rows_are_those_of_the_definition(
    stream: tuple[Pairs, int], cuts: list[int], inverted: bool, method: Any
) -> None:
    pairs, length = stream
    settings = lm_vsl(length, packing=method, inverted_mask=inverted, **window(None))
    packing = pack(np.array([len(ids) - 1 for ids, _ in pairs]), length, method)
    expected = [row([pairs[member] for member in packing[b]], length, inverted) for b in range(len(packing))]
    assert packed(pairs, settings, cuts).tolist() == expected


@given(streams(), CUTS, WINDOWS, st.sampled_from(METHODS))
def test_each_sequence_is_in_one_row_whatever_the_batches(
    stream: tuple[Pairs, int], cuts: list[int], tokens: int | None, method: Any
) -> None:
    pairs, length = stream
    settings, statistics = lm_vsl(length, packing=method, **window(tokens)), Statistics()
    rows = packed(pairs, settings, cuts, statistics)
    assert sorted(sequences_of(rows)) == sorted((ids, mask[:-1]) for ids, mask in pairs)
    np.testing.assert_array_equal(rows, packed(pairs, settings, []))
    real = sum(len(ids) - 1 for ids, _ in pairs)
    assert (statistics.n_examples, statistics.num_tokens) == (len(rows), len(rows) * length)
    assert (statistics.non_pad_tokens, statistics.num_pad_tokens) == (real, len(rows) * length - real)
    assert statistics.loss_valid_tokens == int(rows[:, 1].sum())
    assert statistics.sequences_before_packing == len(pairs)
    assert statistics.kinds.total() == len(rows)


@given(streams(), st.integers(1, 100))
def test_windows_of_the_original_stand_alone(stream: tuple[Pairs, int], tokens: int) -> None:
    pairs, length = stream
    parts: list[Pairs] = [[]]
    for pair in pairs:
        parts[-1].append(pair)
        if sum(len(ids) for ids, _ in parts[-1]) >= tokens:
            parts.append([])
    alone = [packed(part, lm_vsl(length, packing="nearest_previous", **window(None)), []) for part in parts]
    together = packed(pairs, lm_vsl(length, packing="nearest_previous", **window(tokens)), [])
    np.testing.assert_array_equal(together, joined(alone, length))


def test_bins_with_room_wait_for_the_next_window() -> None:
    pairs: Pairs = [([1] * size, [1] * size) for size in (9, 5, 9, 9, 9, 9, 9, 5)]
    settings = lm_vsl(8, **window(59))
    rows = packed(pairs, settings, [])
    assert [len(sequences_of(rows[[number]])) for number in range(len(rows))] == [1, 1, 1, 1, 1, 1, 2]
    without = packed(pairs, lm_vsl(8, packing="nearest_previous", **window(59)), [])
    assert len(without) == len(rows) + 1


def test_rows_come_before_the_stream_ends_and_blocks_are_bounded() -> None:
    length, seen = 1024, [0]

    def batches() -> Iterator[Ragged]:
        for _ in range(2000):
            seen[0] += 1
            yield Ragged.of([range(700), range(300)])

    settings = lm_vsl(length, **window(1 << 20))
    blocks = lm_vsl_rows(batches(), settings, EOS, PAD)
    sizes = [next(blocks)[:, 0].size]
    assert seen[0] < 1100
    sizes += [block[:, 0].size for block in blocks]
    assert max(sizes) == BLOCK_TOKENS


def test_a_stream_fills_its_rows() -> None:
    chance, statistics = np.random.default_rng(0), Statistics()
    sizes = np.minimum(chance.lognormal(5, 1.5, 20_000).astype(np.int64) + 1, 5000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    batch = Ragged(np.zeros(offsets[-1], np.int32), offsets)
    settings = lm_vsl(2048, minimum_length=2, **window(1 << 20))
    assert sum(len(block) for block in lm_vsl_rows([batch], settings, EOS, PAD, statistics))
    assert statistics.fill >= 0.999
    assert statistics.unaccounted_tokens == 0
    assert statistics.sequences_per_row == round(statistics.sequences_before_packing / statistics.n_examples, 2)


def test_what_cannot_be_packed_is_refused_or_counted() -> None:
    statistics = Statistics()
    packer = VSLPacker(lm_vsl(4), PAD, statistics)
    assert list(packer.add(Ragged.of([[1], [], [1, 2]]))) == []
    assert statistics.dropped_sequences == {"no_label": 2}
    assert sequences_of(joined(packer.finish(), 4)) == [([1, 2], [1])]
    assert list(packer.finish()) == []
    with pytest.raises(ValueError, match="a sequence of 6 ids; valid: 2 to 5"):
        list(packer.add(Ragged.of([[1] * 6])))
    with pytest.raises(ValueError, match="differ from the sequences"):
        list(packer.add(Ragged.of([[1, 2]]), Ragged.of([[1]])))
    with pytest.raises(ValueError, match=r"loss mask holds 0\.\.2"):
        list(packer.add(Ragged.of([[1, 2]]), Ragged.of([[2, 0]])))


DOCUMENTS = st.lists(st.lists(st.integers(0, 90), max_size=30), max_size=15)


def documents_to_rows(
    documents: list[list[int]], section: VSLDataset, eos: int | None = EOS
) -> tuple[Rows, Statistics]:
    statistics = Statistics()
    batches = (Ragged.of(documents[first : first + 4]) for first in range(0, len(documents), 4))
    return joined(lm_vsl_rows(batches, section, eos, PAD, statistics), section.sequence_length), statistics


@given(DOCUMENTS, st.integers(1, 12), st.integers(0, 2), WINDOWS, st.booleans())
def test_folding_loses_nothing(
    documents: list[list[int]], length: int, minimum: int, tokens: int | None, with_eos: bool
) -> None:
    settings = lm_vsl(length, minimum_length=minimum, **window(tokens))
    rows, statistics = documents_to_rows(documents, settings, EOS if with_eos else None)
    whole = [document + [EOS] * with_eos for document in documents]
    pieces = [ids[i : i + length + 1] for ids in whole for i in range(0, len(ids), length)]
    assert sorted(ids for ids, _ in sequences_of(rows)) == sorted(piece for piece in pieces if len(piece) > 1)
    assert statistics.loss_valid_tokens == sum(max(0, len(ids) - 1) for ids in whole)
    assert statistics.discarded_documents["no_label"] == sum(len(ids) < 2 for ids in whole)
    assert statistics.unaccounted_tokens == 0


@given(DOCUMENTS, st.integers(5, 12), st.sampled_from(["cut", "drop"]), st.integers(0, 6))
def test_long_and_short_documents_are_counted(
    documents: list[list[int]], length: int, long_documents: Any, minimum: int
) -> None:
    settings = lm_vsl(length, minimum_length=minimum, long_documents=long_documents)
    rows, statistics = documents_to_rows(documents, settings)
    whole = [[*document, EOS] for document in documents]
    usable = [ids for ids in whole if len(ids) >= max(2, minimum)]
    long = [ids for ids in usable if len(ids) > length + 1]
    kept = [ids[: length + 1] for ids in usable if long_documents == "cut" or len(ids) <= length + 1]
    assert sorted(ids for ids, _ in sequences_of(rows)) == sorted(kept)
    assert statistics.discarded_files == len(whole) - len(kept)
    assert statistics.discarded_documents["below_minimum_length"] == sum(2 <= len(ids) < minimum for ids in whole)
    counted = statistics.truncated_documents if long_documents == "cut" else statistics.discarded_documents
    assert counted["long_document"] == len(long)
    assert statistics.dropped_tokens["long_document"] == sum(
        len(ids) - (length + 1 if long_documents == "cut" else 1) for ids in long
    )
    assert statistics.unaccounted_tokens == 0


def test_keyed_short_sequences_depend_on_the_document_alone() -> None:
    chance = random.Random(0)
    documents = [[chance.randrange(90) for _ in range(chance.randint(8, 60))] for _ in range(200)]
    settings = lm_vsl(40, short_sequence_probability=0.4, seed=3)
    rows, statistics = documents_to_rows(documents, settings)
    backwards, _ = documents_to_rows(documents[::-1], settings)
    found = sorted(ids for ids, _ in sequences_of(rows))
    assert found == sorted(ids for ids, _ in sequences_of(backwards))
    assert 50 < statistics.truncated_documents["short_sequence"] < 90
    assert statistics.unaccounted_tokens == 0
    other = lm_vsl(40, short_sequence_probability=0.4, seed=4)
    assert sorted(ids for ids, _ in sequences_of(documents_to_rows(documents, other)[0])) != found


def test_reference_draws_replay_one_generator() -> None:
    chance, length = random.Random(1), 10
    documents = [[chance.randrange(90) for _ in range(chance.randint(1, 25))] for _ in range(60)]
    settings = lm_vsl(
        length,
        packing="nearest_previous",
        minimum_length=4,
        short_sequence_probability=0.5,
        seed=7,
        short_sequence_draws="reference",
        **window(None),
    )
    generator, windows = random.Random(7), list[list[int]]()
    for document in documents:
        ids = [*document, EOS]
        if len(ids) < 4:
            continue
        if generator.random() < 0.5:
            ids = ids[: generator.randint(2, length)]
        windows += [ids[i : i + length + 1] for i in range(0, len(ids) - 1, length)]
    rows, statistics = documents_to_rows(documents, settings)
    assert sorted(ids for ids, _ in sequences_of(rows)) == sorted(windows)
    assert statistics.unaccounted_tokens == 0
