"""Shares of wrong removals and their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from corpus_assets.report.audit.judged import Judged, wilson, wrong_share


@given(st.integers(1, 500), st.data())
def test_the_interval_is_that_of_wilson(judged: int, data: st.DataObject) -> None:
    wrong = data.draw(st.integers(0, judged))
    expected = binomtest(wrong, judged).proportion_ci(0.95, method="wilson")
    found = wrong_share({"all": Judged(1000, judged, wrong)})
    assert found is not None
    assert tuple(found) == pytest.approx((wrong / judged, expected.low, expected.high), abs=1e-6)


def test_bands_count_by_the_documents_removed_in_them() -> None:
    found = wrong_share({"low": Judged(900, 10, 5), "high": Judged(100, 10, 0), "nobody looked": Judged(5000, 0, 0)})
    assert found is not None
    assert found.share == pytest.approx(0.45)
    assert found == wilson(0.45, 1 / (0.81 / 10 + 0.01 / 10))
    assert 0 < found.low < 0.45 < found.high < 1


def test_nothing_is_said_without_a_judgement() -> None:
    assert wrong_share({"low": Judged(900, 0, 0)}) is None
    assert wrong_share({}) is None
