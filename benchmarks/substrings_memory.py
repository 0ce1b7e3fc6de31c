"""Substrings of gigabytes and of hostile texts: `python -m benchmarks.substrings_memory [--quick] [--json]`.

The stages of an entry with `kind: substrings`, as `benchmarks.substrings` runs them: one worker, 1 GiB of
`engine.memory`. Generated text of two sizes gives slopes: `slope mb per cpu s`, and how much the largest resident set
of the process grows with the text, from which follows that for 100 GB. `peak share` is the largest resident set, Python
and libraries included, over `engine.memory`: of the larger text; of one letter 50 million times (`letter`); of a text
of a million equal lines (`lines`); of a million texts of that line (`rows`); and of a corpus without texts (`empty`).
"""

import gzip
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_raw
from benchmarks.printed import printed
from benchmarks.substrings import LENGTH, STAGES, apart, write

MEGABYTES, QUICK_MEGABYTES = (1000, 3000), (4, 12)
ALL_OF_IT = 100_000
"""Megabytes of the corpus for which memory is extrapolated."""

LETTERS, LINES = 50_000_000, 1_000_000
QUICK_SHARE = 50
_LINE = "The same line stands here, again and again.\n"
_MEMORY_MB = (1 << 30) / 1e6


def measure(quick: bool) -> dict[str, Any]:
    """The figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        apart(write(folder / "warm", 1))  # Compiles.
        of_sizes = [_of_text(folder / str(size), size) for size in (QUICK_MEGABYTES if quick else MEGABYTES)]
        hostile = {kind: _of_rows(folder / kind, texts) for kind, texts in _hostile(QUICK_SHARE if quick else 1)}
    (less, few, low), (more, many, high) = of_sizes
    growth = max(high - low, 0.0) / (more - less)
    figures = {
        "large_text_mb": more,
        "slope_mb_per_cpu_s": (more - less) / (many - few),
        "smaller_peak_rss_mb": low,
        "larger_peak_rss_mb": high,
        "peak_rss_mb_of_100_gb": high + growth * (ALL_OF_IT - more),
        "larger_peak_share": high / _MEMORY_MB,
        **{f"{kind}_peak_share": peak / _MEMORY_MB for kind, (_, _, peak) in hostile.items()},
        **{f"{kind}_cpu_s": seconds for kind, (_, seconds, _) in hostile.items()},
    }
    return {name: round(value, 2) for name, value in figures.items()}


def _hostile(part: int) -> list[tuple[str, Iterable[str]]]:
    lines = LINES // part
    return [
        ("letter", ["a" * (LETTERS // part)]),
        ("lines", [_LINE * lines]),
        ("rows", (_LINE for _ in range(lines))),
        ("empty", []),
    ]


def _of_text(folder: Path, megabytes: int) -> tuple[float, float, float]:
    """Megabytes of generated text, CPU seconds of all stages, and the largest resident set in MB."""
    sources, _ = write_raw(folder / "raw", megabytes)
    return _run(folder, sources)


def _of_rows(folder: Path, texts: Iterable[str]) -> tuple[float, float, float]:
    """The same of these texts."""
    (folder / "raw").mkdir(parents=True)
    with gzip.open(folder / "raw" / "rows.jsonl.gz", "wt", compresslevel=1) as file:
        file.writelines(json.dumps({"id": str(row), "text": text}) + "\n" for row, text in enumerate(texts))
    return _run(folder, [{"name": "rows", "location": "raw", "may_be_empty": True}])


def _run(folder: Path, sources: list[Any]) -> tuple[float, float, float]:
    values = {
        "sources": sources,
        "dedupers": [{"kind": "substrings", "min_length": f"{LENGTH} bytes"}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"workers": 0, "memory": "1 GiB"},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    found, peak = apart(folder / "corpus.yaml")
    return found["text_mb"], sum(found[stage] for stage in STAGES), peak


if __name__ == "__main__":
    printed(__doc__, measure)
