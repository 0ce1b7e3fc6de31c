"""The promised recall and precision of the defaults, on an eighth of the pairs that the benchmark measures."""

import pytest

from benchmarks.dedup_quality import measure
from tests.golden import shared


@pytest.mark.slow
def test_the_defaults_find_what_they_promise() -> None:
    shared("data", "pairs")
    figures, _ = measure(quick=True)
    assert figures["default_recall"] >= 0.995
    assert figures["default_precision"] >= 0.99
    assert figures["removed_below_threshold"] <= 0.005
    assert figures["kept_pairs_above_threshold_real"] == 0
    assert figures["removed_below_threshold_real"] <= 0.005 < figures["removed_below_threshold_real_unguarded"]
    assert 0 < figures["removed_real"] < figures["removed_real_unguarded"]
    for suffix in ("", "_made"):
        assert 0 < figures[f"two_sided_texts_read{suffix}"] < 0.5
        assert figures[f"two_sided_time_ratio{suffix}"] > 0
        assert figures[f"two_sided_build_ratio{suffix}"] > 0
    assert figures["signature_recall"] >= 0.92
    assert figures["signature_precision"] >= 0.92
    assert figures["exact_recall"] >= 0.995
    assert figures["exact_precision"] == 1.0
    assert figures["missed_above_095"] == 0
    assert figures["signature_recall"] > figures["unverified_9x13_recall"]
    assert figures["signature_precision"] > figures["unverified_9x13_precision"]
