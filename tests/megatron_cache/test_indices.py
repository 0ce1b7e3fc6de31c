"""Indices against the rules in plain Python, over random documents, epochs and blends."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from corpus_assets.megatron_cache import indices
from corpus_assets.megatron_cache.blending import blend
from corpus_assets.megatron_cache.blends import normalized, split_bounds
from corpus_assets.megatron_cache.indices import Order, order_of, write
from corpus_assets.megatron_cache.sequences import Sequences
from resources.errors import ConfigError
from tests.megatron_cache.plain import draws, orders, starts


def of(lengths: list[int]) -> Sequences:
    return Sequences("books", np.array(lengths, np.int32))


def written(order: Order, seed: int) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}

    def create(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        found[name] = np.zeros(shape, dtype)
        return found[name]

    write(order, seed, create)
    return found


@settings(max_examples=200)
@given(
    lengths=st.lists(st.integers(0, 30), min_size=1, max_size=30).filter(lambda found: sum(found[1:]) > 0),
    length=st.integers(2, 40),
    samples=st.none() | st.integers(0, 60),
    seed=st.integers(0, 2**32 - 1),
    block=st.sampled_from([1, 3, 1 << 20]),
)
def test_indices_are_those_of_the_plain_rules(
    lengths: list[int], length: int, samples: int | None, seed: int, block: int
) -> None:
    documents = range(1, len(lengths))
    order = order_of(of(lengths), (documents.start, documents.stop), length, samples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indices, "_BLOCK", block)
        found = written(order, seed)
    expected, shuffled = orders(documents, order.epochs, order.alone, order.samples, seed)
    assert found["document_index"].tolist() == expected
    assert found["shuffle_index"].tolist() == shuffled
    assert found["sample_index"].tolist() == starts(lengths, expected, length, order.samples)
    assert [array.dtype for array in found.values()] == ["int32", "int32", "uint32"]
    assert order.samples >= (samples or 0)


@pytest.mark.parametrize(
    ("samples", "epochs", "alone"),
    [(None, 1, None), (9, 1, None), (10, 2, 9), (17, 2, None), (19, 2, None), (20, 3, 19), (27, 3, None)],
)
def test_the_last_epoch_is_shuffled_by_itself_if_less_than_four_fifths_of_it_are_used(
    samples: int | None, epochs: int, alone: int | None
) -> None:
    order = order_of(of([25] * 4), (0, 4), 10, samples)
    assert (order.epochs, order.alone) == (epochs, alone)


def test_a_part_without_ids_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"books: documents 2 to 2 of 2 have no ids, and Megatron would look"):
        order_of(of([5, 5]), (2, 2), 10, 5)


@settings(max_examples=100)
@given(
    weights=st.lists(st.floats(0.01, 100), min_size=1, max_size=6), size=st.integers(0, 200), first=st.integers(0, 200)
)
def test_a_blend_draws_what_is_most_behind(weights: list[float], size: int, first: int) -> None:
    shares = normalized(weights)
    datasets, samples, drawn = np.zeros(size, np.int16), np.zeros(size, np.int64), np.zeros(len(weights), np.int64)
    for part in (slice(None, first), slice(first, None)):
        blend(np.array(shares), min(first, size) if part.start else 0, drawn, datasets[part], samples[part])
    assert (datasets.tolist(), samples.tolist()) == draws(shares, size)


@pytest.mark.parametrize(
    ("split", "bounds"),
    [
        ("100,0,0", [(0, 1.0), None, None]),
        ("969, 30, 1", [(0, 0.969), (0.969, 0.999), (0.999, 1.0)]),
        ("1", [(0, 1.0), None, None]),
        ("0,1,1", [None, (0.0, 0.5), (0.5, 1.0)]),
    ],
)
def test_bounds_of_a_split(split: str, bounds: list[Any]) -> None:
    assert split_bounds(split) == bounds


@pytest.mark.parametrize("split", ["", "none", "0,0,0", "1,2,3,4", "1.2.3"])
def test_a_split_that_says_no_shares_is_refused(split: str) -> None:
    with pytest.raises(ConfigError, match="--split"):
        split_bounds(split)
