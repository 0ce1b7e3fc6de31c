"""The benchmark of the stages tells the cost of one more MB from what a process spends once."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from benchmarks.stages import codec_costs, figures_of, names_of
from resources.formats.jsonl.compressions import COMPRESSIONS

SMALL, LARGE = 5, 45


def run(fixed: float, per_partition: float, ms_per_mb: float) -> list[dict[str, Any]]:
    """A stage of known cost on the three corpora: only the first run loads anything."""
    once = (fixed, 0.0, 0.0)
    sizes = (SMALL, SMALL, LARGE)
    return [
        {
            "cpu_seconds": spent + per_partition + ms_per_mb * size / 1000,
            "text_bytes": size * 1e6,
            "peak_rss_mb": 100.0 + size,
        }
        for spent, size in zip(once, sizes, strict=True)
    ]


def test_slope_and_intercept_are_told_apart_and_add_up() -> None:
    figures = figures_of(
        {
            "normalized_documents": run(0.5, 0.25, 20.0),
            "mixed_pass2": run(0.0, 0.0, 2.5),
            "decontaminated_train": run(0.0, 0.125, 2.5),
            "train_tokens": run(9.0, 9.0, 900.0),
        }
    )
    assert names_of(figures) == [
        *("normalized_documents", "mixed_pass2", "decontaminated_train", "train_tokens"),
        *("pipeline", "mix_and_splits"),
    ]
    assert figures["mix_and_splits_ms_per_mb"] == pytest.approx(5.0)
    assert figures["normalized_documents_ms_per_mb"] == pytest.approx(20.0)
    assert figures["normalized_documents_fixed_cpu_s"] == pytest.approx(0.75)
    assert figures["pipeline_ms_per_mb"] == pytest.approx(25.0)
    assert figures["pipeline_mb_per_cpu_s"] == pytest.approx(40.0)
    assert figures["pipeline_fixed_cpu_s"] == pytest.approx(0.875)
    assert figures["pipeline_peak_rss_mb"] == 100.0 + LARGE


def test_noise_below_the_clock_gives_no_endless_or_negative_rate() -> None:
    costs = run(0.1, 0.0, 1.0)
    costs[1]["cpu_seconds"] = 1.0
    figures = figures_of({"normalized_documents": costs, "decontaminated_train": costs})
    assert figures["normalized_documents_mb_per_cpu_s"] > 0
    assert figures["pipeline_fixed_cpu_s"] >= 0


def test_codecs_are_measured_over_the_raw_files_whatever_their_rows_are(tmp_path: Path) -> None:
    path = tmp_path / "raw" / "s" / "a.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(b'{"id": "1"}\nno row\n' + b'{"text": "words"}\n' * 20_000))
    figures = codec_costs(tmp_path, text_bytes=100_000)
    assert list(figures) == [f"{un}{name}_alone_ms" for name in COMPRESSIONS for un in ("un", "")]
    assert all(value > 0 for value in figures.values())
