"""`docs/scale.md`: what near-duplicates cost at several sizes, and what follows for larger ones."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
FIGURES = Path(__file__).with_name("scale.json")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
LARGER = (931_361_530, 10_000_000_000)
ALONE = ("components", "holdout_hashes")
_MILLION = 1_000_000
_SIGNATURE_BYTES = 512
# Per document, while candidates are looked for: 20 band keys of 8 bytes and 128 bytes of sketch, whatever the numbers.
_FIXED_BYTES = 288
# What components holds per cluster: its root, the document kept, its size and position, some of it twice.
_CLUSTER_BYTES = 64

Figures = Mapping[str, Any]


def publish(figures: Figures) -> None:
    """Put the figures of one run in the place of older ones for as many documents, and write the page's tables."""
    runs = {run["documents"]: run for run in json.loads(FIGURES.read_text())} if FIGURES.exists() else {}
    runs[figures["documents"]] = figures
    ordered = [runs[documents] for documents in sorted(runs)]
    FIGURES.write_text(json.dumps(ordered, indent=1) + "\n")
    page = TARGET.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    TARGET.write_text(f"{before}{BEGIN}\n{tables(ordered)}\n\n{END}{after}", encoding="utf-8")


def tables(runs: list[Figures]) -> str:
    """Every run, what it is per million documents, and what follows from the largest."""
    parts = [f"### {run['documents']:,} documents\n\n{stage_table(run)}" for run in runs]
    return "\n\n".join([*parts, f"### Per million documents\n\n{flatness(runs)}", larger(runs[-1])])


def stage_table(run: Figures) -> str:
    """One row per stage."""
    names = ("cpu_s", "peak_rss_mb", "scratch_mb", "results_mb", "disk_mb")
    head = ("CPU-seconds", "peak memory of a worker, MB", "scratch, MB", "results, MB", "all on disk, MB")
    rows = [
        (name, f"{cost['wall_s']:,}", _with_two(cost), *(f"{cost[key]:,}" for key in names))
        for name, cost in run["stages"].items()
    ]
    found = (
        f"Memory budget {run['memory_mb']:,} MB. Duplicates found: {run['duplicates_found']:.2%} of those known; "
        f"wrong ones: {run['duplicates_wrong']:.4%}."
    )
    return f"{table(('stage', 'seconds', 'with 2 workers', *head), rows)}\n\n{found}"


def _with_two(cost: Figures) -> str:
    """Seconds with two workers; those of a stage without parts are the same."""
    return f"{cost['seconds_by_workers'].get('2', cost['wall_s']):,}"


def flatness(runs: list[Figures]) -> str:
    """CPU-seconds per stage and bytes per document, by size of the run."""
    head = ("per million documents", *(f"{run['documents']:,}" for run in runs))
    stages = [
        (f"{name}, CPU-seconds", *(f"{_per_million(run, 'cpu_s', name):.2f}" for run in runs))
        for name in runs[0]["stages"]
    ]
    totals = [
        (f"all stages, {unit}", *(f"{_seconds(run, key):.2f}" for run in runs))
        for unit, key in (("CPU-seconds", "cpu_s"), ("seconds", "wall_s"))
    ]
    disk = ("most on disk, MB", *(f"{_disk(run):,.0f}" for run in runs))
    return table(head, [*stages, *totals, disk])


def larger(run: Figures) -> str:
    """Time, memory and disk for corpora larger than any measured."""
    head = ("documents", "CPU-hours", "of them in one process", "memory, GB", "disk, GB", "signatures, GB")
    clusters = (run["stages"]["components"]["members"] - run["stages"]["duplicates"]["duplicates"]) / run["documents"]
    rows = []
    for documents in LARGER:
        itemsize = 4 if documents < 1 << 32 else 8
        hours = _seconds(run, "cpu_s") * documents / _MILLION / 3600
        alone = sum(_per_million(run, "cpu_s", stage) for stage in ALONE) * documents / _MILLION / 3600
        memory = run["memory_mb"] / 1000 + (2 * itemsize + _CLUSTER_BYTES * clusters) * documents / 1e9
        disk = (_FIXED_BYTES + max(_disk(run) - _FIXED_BYTES, 0) * itemsize / 4) * documents / 1e9
        signatures = _SIGNATURE_BYTES * documents / 1e9
        cells = (hours, alone, memory, disk, signatures)
        rows.append((f"{documents:,}", *(f"{cell:,.1f}" for cell in cells)))
    return f"### Larger corpora\n\nFrom the run over {run['documents']:,} documents.\n\n{table(head, rows)}"


def _per_million(run: Figures, key: str, stage: str) -> float:
    return float(run["stages"][stage][key] * _MILLION / run["documents"])


def _seconds(run: Figures, key: str) -> float:
    """Seconds per million documents, all stages one after the other."""
    return sum(_per_million(run, key, stage) for stage in run["stages"])


def _disk(run: Figures) -> float:
    """Bytes per document that lie on disk at most, which is MB per million."""
    return float(max(cost["disk_mb"] for cost in run["stages"].values()) * _MILLION / run["documents"])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
