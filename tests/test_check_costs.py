"""The benchmark of the checks of candidates takes off what the stage costs before it compares anything."""

import pytest

from benchmarks.dedup_check import Cost, figures_of


def turns(*seconds: float, by_text: int = 0) -> list[Cost]:
    return [Cost(cpu_s, 1000, by_text) for cpu_s in seconds]


SMALL = {"signature": turns(0.03, 0.02, 0.05), "two_sided": turns(0.04, 0.09, 0.05)}


def test_the_least_of_the_turns_counts_and_fixed_costs_are_taken_off() -> None:
    whole = {"signature": turns(0.12, 0.15, 0.18), "two_sided": turns(0.34, 0.24, 0.29, by_text=70)}
    assert figures_of(SMALL, whole, 0.88) == {
        "two_sided_time_ratio": pytest.approx(2.0),
        "two_sided_texts_read": pytest.approx(0.07),
        "two_sided_us_per_candidate": pytest.approx(200.0),
        "signature_us_per_candidate": pytest.approx(100.0),
        "two_sided_build_ratio": pytest.approx(1.12),
    }


def test_noise_below_the_clock_gives_no_endless_or_negative_ratio() -> None:
    figures = figures_of(SMALL, {"signature": turns(0.01), "two_sided": turns(0.05)}, 0.0)
    assert figures["two_sided_time_ratio"] == pytest.approx(10.0)
    assert figures["signature_us_per_candidate"] > 0


def test_a_corpus_without_candidates_has_figures() -> None:
    nothing = {check: [Cost(0.02, 0, 0)] for check in ("signature", "two_sided")}
    assert figures_of(nothing, nothing, 1.0)["two_sided_texts_read"] == 0
