"""Windows: the separated stream cut at equal distances, in an order that is a permutation for every key."""

import pickle
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.reading import ReadingError, Separators, TokenStream, WindowDataset
from corpus_assets.reading import partition as partitions_of_streams
from corpus_assets.reading.order import Order
from resources.formats.token_streams import DATA, LENGTHS
from resources.hashing import keyed_hash
from tests.reading.written import numbered, save, separated, write_stream

END = Separators(after=9)


@given(
    lengths=st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=4),
    length=st.integers(1, 30),
    shared=st.booleans(),
    separators=st.builds(Separators, st.sampled_from([None, 7]), st.sampled_from([None, 9])),
    dtype=st.sampled_from([np.uint16, np.int64]),
)
def test_windows_are_cut_from_the_separated_stream(
    lengths: list[list[int]],
    length: int,
    shared: bool,
    separators: Separators,
    dtype: type[np.integer],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    documents = numbered(*lengths)
    whole = separated(documents, separators)
    step = length if shared else length + 1
    expected = [whole[at : at + length + 1] for at in range(0, len(whole), step) if at + length < len(whole)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_of_streams, "BLOCK_DOCUMENTS", 3)
        stream = TokenStream(write_stream(tmp_path_factory.mktemp("stream"), *documents))
    windows = WindowDataset(stream, length, separators=separators, shared=shared, seed=None, dtype=dtype)
    assert len(windows) == len(expected)
    assert windows.windows(np.arange(len(windows))).tolist() == expected
    assert [ids.tolist() for ids in windows] == expected
    assert windows.windows([0] * min(1, len(windows))).dtype == dtype
    used = {at for n in range(len(expected)) for at in range(n * step, n * step + length + 1)}
    assert windows.unused == len(whole) - len(used)


def test_many_lengths_are_added_up_right(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    documents = numbered(*(chance.integers(0, 4, size).tolist() for size in (20_000, 0, 9_000)))
    whole = separated(documents, END)
    stream = TokenStream(write_stream(tmp_path, *documents))
    windows = WindowDataset(stream, 7, separators=END)
    numbers = chance.permutation(len(windows))[:2000]
    assert windows.windows(numbers).tolist() == [whole[at * 7 : at * 7 + 8] for at in numbers.tolist()]


def plain_order(size: int, seed: int, epoch: int) -> list[int]:
    """The order of all numbers below a size, in plain Python."""
    mask = (1 << 64) - 1

    def mixed(value: int) -> int:
        value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ value >> 27) * 0x94D049BB133111EB) & mask
        return value ^ value >> 31

    columns = next(c for c in range(1, size + 2) if c * c >= size)
    rows = -(-size // columns)
    keys = [keyed_hash("window order", seed, epoch, round_) for round_ in range(8)]

    def moved(value: int) -> int:
        row, column = divmod(value, columns)
        for first, second in zip(keys[::2], keys[1::2], strict=True):
            row = (row + mixed((column + first) & mask) % rows) % rows
            column = (column + mixed((row + second) & mask) % columns) % columns
        return row * columns + column

    found = []
    for place in range(size):
        value = moved(place)
        while value >= size:
            value = moved(value)
        found.append(value)
    return found


@given(size=st.integers(0, 400), seed=st.integers(0, 2**64 - 1), epoch=st.integers(0, 9))
def test_an_order_is_a_permutation(size: int, seed: int, epoch: int) -> None:
    found = Order(size, seed, epoch).at(np.arange(size)).tolist()
    assert sorted(found) == list(range(size))
    assert found == plain_order(size, seed, epoch)
    assert [Order(size, seed, epoch).one(place) for place in range(min(size, 5))] == found[:5]


def test_large_orders_are_permutations_too() -> None:
    size = 1_000_003
    found = Order(size, 3, 0).at(np.arange(size))
    assert np.array_equal(np.sort(found), np.arange(size))
    huge = Order(2**61 + 1, 3, 0).at(np.arange(1000))
    assert len(np.unique(huge)) == 1000
    assert huge.min() >= 0
    assert huge.max() <= 2**61


def test_the_order_does_not_change_between_versions() -> None:
    """A run that goes on after an update must meet the order that it began with."""
    assert Order(1000, 1, 0).at(np.arange(8)).tolist() == [550, 951, 841, 214, 392, 431, 73, 28]
    assert Order(10**12, 1, 2).at(np.arange(4)).tolist() == [2737343561, 863650694822, 176894389408, 866176861495]


def test_places_are_as_likely_as_each_other() -> None:
    """Chi-squared of where the first of ten numbers goes under 20,000 keys; above 45 lies less than 1 in 10^6."""
    counts = np.bincount([Order(10, seed, 0).one(0) for seed in range(20_000)], minlength=10)
    assert ((counts - 2000) ** 2 / 2000).sum() < 45


def test_neighbours_do_not_stay_together() -> None:
    found = Order(100_000, 0, 0).at(np.arange(100_000))
    assert (np.abs(np.diff(found)) < 100).mean() < 0.004
    assert abs(np.corrcoef(found, np.arange(100_000))[0, 1]) < 0.02


def test_seed_and_epoch_decide_the_order(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, *numbered([50] * 20)))
    windows = WindowDataset(stream, 4, separators=END, seed=1)
    by_key = {(1, 0): [ids.tolist() for ids in windows]}
    windows.set_epoch(3)
    by_key[1, 3] = [ids.tolist() for ids in windows]
    by_key[2, 0] = [ids.tolist() for ids in WindowDataset(stream, 4, separators=END, seed=2)]
    orders = list(by_key.values())
    assert len({str(order) for order in orders}) == 3
    assert len({str(sorted(order)) for order in orders}) == 1
    batch = windows.__getitems__([5, 0, 7])
    assert batch.tolist() == [by_key[1, 3][place] for place in (5, 0, 7)]
    assert windows[-1].tolist() == by_key[1, 3][-1]


def test_the_index_takes_a_few_bytes_per_thousand_windows(tmp_path: Path) -> None:
    folder, documents = write_stream(tmp_path, []), 1 << 15
    save(folder / f"chunk-0000{DATA}", np.zeros(documents * 700, np.uint16))
    save(folder / f"chunk-0000{LENGTHS}", np.full(documents, 700, np.int32))
    stream = TokenStream(folder)
    windows = WindowDataset(stream, 2048, separators=END)
    index = sum(partition.blocks.nbytes + partition.begins.nbytes for partition in stream.partitions)
    assert index / (len(windows) / 1000) < 16
    assert len(pickle.dumps(windows)) < 3000


def test_what_windows_cannot_be(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, [[1, 2, 3]]))
    for changes, message in (
        ({"separators": None}, "does not say which id ends a document"),
        ({"length": 0}, "length is 0; valid: 1 or more"),
        ({"seed": -1}, "seed is -1"),
        ({"epoch": -1}, "epoch is -1"),
        ({"dtype": np.uint8}, "dtype is uint8; valid: an integer type that holds uint16"),
        ({"dtype": np.float64}, "dtype is float64"),
        ({"dtype": np.uint16, "separators": Separators(after=1 << 16)}, "separator 65536 is not in 0 to 65535"),
    ):
        with pytest.raises(ReadingError, match=message):
            WindowDataset(stream, **{"length": 2, "separators": END, **changes})  # type: ignore[arg-type]
    windows = WindowDataset(stream, 2, separators=END)
    for number in (1, -2):
        with pytest.raises(IndexError, match=f"window {number} of 1"):
            windows[number]
    with pytest.raises(IndexError, match="windows 0 to 1 of 1"):
        windows.windows([0, 1])


def test_a_stream_without_a_whole_window(tmp_path: Path) -> None:
    windows = WindowDataset(TokenStream(write_stream(tmp_path, [[1, 2], []], [])), 3, separators=END)
    assert (len(windows), windows.unused) == (0, 3)
    assert list(islice(windows, 3)) == []
    assert windows.windows([]).shape == (0, 4)
