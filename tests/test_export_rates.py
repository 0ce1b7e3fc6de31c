"""The benchmark of exports measures every format, and tells a rate from what a run spends once."""

import pytest

from benchmarks.export import NAMES, STREAM, rates, read_rate
from corpus_assets.config.datasets.exports import EXPORTS


def numbers(megabytes: float) -> dict[str, dict[str, float]]:
    """A stream at 50 MB per CPU-second and formats at 200 million ids, each after a second of other things."""
    ids = megabytes * 1e6 / 4
    stages = {STREAM: megabytes / 50, **{f"{name}_tokens": ids / 200e6 for name in NAMES}}
    return {
        stage: {"cpu_seconds": 1 + seconds, "text_bytes": megabytes * 1e6, "tokens": ids}
        for stage, seconds in stages.items()
    }


def test_rates_are_slopes_of_every_format() -> None:
    assert {*NAMES} == EXPORTS.keys()
    figures = rates(numbers(8), numbers(80))
    assert figures["text_mb"] == 80
    assert figures["stream_mb_per_cpu_s"] == pytest.approx(50)
    assert [figures[f"{name}_mids_per_cpu_s"] for name in NAMES] == pytest.approx([200] * len(NAMES))


def test_a_reader_reads_what_it_is_asked_to() -> None:
    asked: list[int] = []
    assert read_rate(lambda some: asked.append(len(some)), range(100), 2) > 0
    assert {*asked} == {100, 25}
