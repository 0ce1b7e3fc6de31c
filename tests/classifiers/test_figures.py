"""Figures and calibrations by their definitions, the sample by all orders of its texts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, minimize

from corpus_assets.classifiers.calibration import Calibration, fitted
from corpus_assets.classifiers.figures import figures_of
from corpus_assets.classifiers.linear import grams_of
from corpus_assets.classifiers.lowest import PLACES, Lowest, example_hash, parts_of

EXAMPLES = st.lists(st.tuples(st.integers(-40, 40), st.booleans()), min_size=4, max_size=60).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


def arrays(rows: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([score / 8 for score, _ in rows]), np.array([label for _, label in rows])


@given(EXAMPLES)
def test_figures_by_their_definitions(rows: list[tuple[int, bool]]) -> None:
    odds, labels = arrays(rows)
    scores = 1 / (1 + np.exp(-odds))
    found = figures_of(scores, labels)
    chosen = [label for score, label in zip(scores, labels, strict=True) if score >= 0.5]
    assert found.precision == pytest.approx(sum(chosen) / len(chosen) if chosen else 0.0, abs=1e-5)
    assert found.recall == pytest.approx(sum(chosen) / labels.sum(), abs=1e-5)
    pairs = list(itertools.product(scores[labels], scores[~labels]))
    area = sum((one > other) + (one == other) / 2 for one, other in pairs) / len(pairs)
    assert found.auc == pytest.approx(area, abs=1e-5)
    error = 0.0
    for low in range(10):
        held = [(s, y) for s, y in zip(scores, labels, strict=True) if min(int(s * 10), 9) == low]
        error += abs(sum(s for s, _ in held) - sum(y for _, y in held)) / len(rows)
    assert found.ece == pytest.approx(error, abs=1e-4)
    assert sum(one.examples for one in found.bins) == len(rows) == found.positive + found.negative


@given(EXAMPLES)
def test_platt_is_the_best_logistic_function(rows: list[tuple[int, bool]]) -> None:
    scores, labels = arrays(rows)
    targets = np.where(labels, (labels.sum() + 1) / (labels.sum() + 2), 1 / ((~labels).sum() + 2))

    def loss(point: np.ndarray) -> float:
        odds = point[0] * scores + point[1]
        return float((np.logaddexp(0, odds) - targets * odds).sum())

    found = fitted("platt", scores, labels)
    best = minimize(loss, [0.1, 0.0], bounds=[(0, None), (None, None)], method="L-BFGS-B")
    if found.slope > 0:
        assert loss(np.array([found.slope, found.offset])) <= best.fun + 1e-4


@given(EXAMPLES)
def test_isotonic_is_the_nearest_curve_that_does_not_fall(rows: list[tuple[int, bool]]) -> None:
    scores, labels = arrays(rows)
    found = fitted("isotonic", scores, labels)
    grid = np.linspace(-6, 6, 200)
    values = found.probabilities(grid)
    assert ((values > 0) & (values < 1)).all()
    assert (np.diff(values) >= 0).all()
    unique = np.unique(scores)
    shares = np.array([labels[scores == one].mean() for one in unique])
    counts = np.array([(scores == one).sum() for one in unique])
    nearest = isotonic_regression(shares, weights=counts).x
    pools = np.array([counts[nearest == value].sum() for value in nearest])
    np.testing.assert_allclose(found.probabilities(unique), np.maximum.accumulate((nearest * pools + 1) / (pools + 2)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "platt", "slope": -1.0},
        {"kind": "platt", "offset": float("inf")},
        {"kind": "isotonic"},
        {"kind": "isotonic", "at": (1.0, 1.0), "is_": (0.1, 0.2)},
        {"kind": "isotonic", "at": (1.0, 2.0), "is_": (0.3, 0.2)},
        {"kind": "isotonic", "at": (1.0,), "is_": (1.2,)},
    ],
)
def test_a_calibration_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        Calibration(**wrong)  # type: ignore[arg-type]


@given(st.permutations([f"text {n % 13}" for n in range(20)]))
def test_a_sample_does_not_depend_on_the_order(texts: list[str]) -> None:
    whole, first, second = Lowest(7), Lowest(7), Lowest(7)
    for row, text in enumerate(texts):
        for lowest in (whole, first if row % 2 else second):
            lowest.add(example_hash(3, text), 0, row)
    wanted = sorted({example_hash(3, text) for text in texts})[:7]
    assert whole.found()["hash"].tolist() == wanted
    both = Lowest(7)
    both.add_all(second.found())
    both.add_all(first.found())
    assert both.found()["hash"].tolist() == wanted
    for value, _, row in whole.found().tolist():
        assert row == min(place for place, text in enumerate(texts) if example_hash(3, text) == value)
    assert Lowest(3).found().dtype == PLACES


def test_parts_have_the_shares_that_were_asked_for() -> None:
    hashes = np.arange(1000, dtype=np.uint64) * 977
    parts = parts_of(hashes, 0, 0.15)
    assert np.bincount(parts).tolist() == [700, 150, 150]
    assert (parts_of(hashes[::-1], 0, 0.15) == parts[::-1]).all()
    assert np.bincount(parts_of(hashes[:20], 0, 0.01)).tolist() == [18, 1, 1]


def test_words_signs_and_characters_of_han_are_features() -> None:
    def grams(text: str, longest: int = 1) -> list[int]:
        found: list[int] = grams_of(text, longest, 1 << 26).tolist()
        return found

    assert grams("Good  day") == grams("good\nday") != grams("day good")
    assert sorted(grams("good day")) == sorted(grams("day good"))
    assert len(grams("it's 3.5!")) == 7
    assert len(grams("漢字かな ไทย")) == 7
    assert len(grams("a b c d", 2)) == 7
    assert grams("a b", 2)[1] != grams("ab", 2)[0]
    assert grams("") == grams(" \n") == []
    assert max(grams_of("a b c d e f", 2, 1024)) < 1024
