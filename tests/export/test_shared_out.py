"""What one cannot have is shared out over the others (UniMax): the total stays, and nobody is over."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.weights.targets import reachable, shared_out
from resources.errors import ConfigError

TARGETS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10**12), min_size=1)


@given(asked=TARGETS, data=st.data())
def test_the_total_stays_and_full_ones_have_all_they_can(asked: dict[str, int], data: st.DataObject) -> None:
    most = {name: data.draw(st.integers(0, 10**12)) for name in asked}
    if sum(asked.values()) > sum(most[name] for name, target in asked.items() if target):
        with pytest.raises(ConfigError, match=r"units together have .* within max_epochs, and .* are asked for"):
            shared_out(asked, most, "weights: unit")
        return
    found = shared_out(asked, most, "weights: unit")
    assert sum(found.values()) == sum(asked.values())
    assert all(found[name] <= most[name] for name in asked)
    level = water_level(asked, most)
    assert all(abs(found[name] - min(most[name], level * target)) <= 1.01 for name, target in asked.items())


def water_level(asked: dict[str, int], most: dict[str, int]) -> float:
    """How much of what it asked for everybody has who is not full, by bisection."""
    low, high = 0.0, 1e13
    for _ in range(200):
        level = (low + high) / 2
        reached = sum(min(most[name], level * target) for name, target in asked.items())
        low, high = (level, high) if reached < sum(asked.values()) else (low, level)
    return high


@given(
    sizes=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 10**9), min_size=1),
    epochs=st.sampled_from([1, 2, 4]),
    share=st.floats(0.01, 1),
)
def test_equal_shares_are_unimax(sizes: dict[str, int], epochs: int, share: float) -> None:
    """Algorithm 1 of UniMax (arXiv:2304.09151): the smallest first, each with an equal part of the budget left."""
    total = int(share * epochs * sum(sizes.values()))
    left, expected = float(total), {}
    for place, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        expected[name] = min(left / (len(sizes) - place), sizes[name] * epochs)
        left -= expected[name]
    weights = Weights(shares=dict.fromkeys(sizes, 1.0), total=max(total, 1), max_epochs=epochs, on_excess="share")
    asked = {name: total // len(sizes) for name in sizes}
    found = reachable(asked, sizes, {}, weights, "weights: source")
    assert all(abs(found[name] - expected[name]) <= len(sizes) + 1 for name in sizes)


def test_what_is_left_of_earlier_datasets() -> None:
    weights = Weights(shares={"a": 1, "b": 1}, max_epochs=2, on_excess="share")
    sizes: dict[str, Any] = {"a": 100, "b": 1000}
    assert reachable({"a": 150, "b": 150}, sizes, {"a": 120}, weights, "w") == {"a": 80, "b": 220}
