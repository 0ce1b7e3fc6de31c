"""`docs/scale.md`: what near-duplicates cost at several sizes, and what follows for larger ones.

`python -m benchmarks.scale_page` writes the tables of all stored runs again.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
FIGURES = Path(__file__).with_name("scale.json")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
LARGER = (931_361_530, 10_000_000_000)
ORDER = (
    "exact_duplicates",
    "duplicate_pairs",
    "candidate_pairs",
    "verified_pairs",
    "cluster_roots",
    "cluster_members",
    "guarded_clusters",
    "components",
    "duplicates",
    "holdout_hashes",
)
ALONE = ("cluster_roots", "components", "holdout_hashes")
_MILLION = 1_000_000
_SIGNATURE_BYTES = 512
# Per document, while candidates are looked for: 20 band keys of 8 bytes and 128 bytes of sketch, whatever the numbers.
_FIXED_BYTES = 288

Figures = Mapping[str, Any]


def publish(figures: Figures) -> None:
    """Put the figures of one run in the place of older ones for as many documents, and write the page's tables."""
    runs = {run["documents"]: run for run in json.loads(FIGURES.read_text())} if FIGURES.exists() else {}
    older = runs.get(figures["documents"], {"stages": {}})
    # A run of some stages says nothing of the others, nor of how many pairs they find.
    of_run = {**older, **figures} if ORDER[0] in figures["stages"] else {**figures, **older}
    runs[figures["documents"]] = {**of_run, "stages": _in_order(older["stages"], figures["stages"])}
    ordered = [runs[documents] for documents in sorted(runs)]
    FIGURES.write_text(json.dumps(ordered, indent=1) + "\n")
    write_tables(ordered)


def _in_order(older: Figures, newer: Figures) -> Figures:
    """The costs of a run's stages, newer ones instead of older ones."""
    both = {**older, **newer}
    return {name: both[name] for name in ORDER if name in both}


def write_tables(ordered: list[Figures]) -> None:
    """Write the page's tables, from the smallest run to the largest."""
    page = TARGET.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    TARGET.write_text(f"{before}{BEGIN}\n{tables(ordered)}\n\n{END}{after}", encoding="utf-8")


def tables(runs: list[Figures]) -> str:
    """Every run, what it is per million documents, and what follows from the largest runs."""
    parts = [f"### {run['documents']:,} documents\n\n{stage_table(run)}" for run in runs]
    return "\n\n".join([*parts, f"### Per million documents\n\n{flatness(runs)}", larger(runs)])


def stage_table(run: Figures) -> str:
    """One row per stage."""
    names = ("cpu_s", "peak_rss_mb", "scratch_mb", "results_mb", "disk_mb")
    head = ("CPU-seconds", "peak memory of a worker, MB", "scratch, MB", "results, MB", "all on disk, MB")
    rows = [
        (name, f"{cost['wall_s']:,}", _with_two(cost), *(f"{cost[key]:,}" for key in names))
        for name, cost in run["stages"].items()
    ]
    one, two = (sum(cost["seconds_by_workers"][workers] for cost in _in_parts(run)) for workers in ("1", "2"))
    found = (
        f"The stages by range and by band took {one:,.1f} s with one worker, {two:,.1f} s with two. "
        f"Memory budget {run['memory_mb']:,} MB. Duplicates found: {run['duplicates_found']:.2%} of those known; "
        f"wrong ones: {run['duplicates_wrong']:.4%}."
    )
    return f"{table(('stage', 'seconds', 'with 2 workers', *head), rows)}\n\n{found}"


def _in_parts(run: Figures) -> list[Figures]:
    """The stages that more workers share."""
    return [cost for cost in run["stages"].values() if "1" in cost["seconds_by_workers"]]


def _with_two(cost: Figures) -> str:
    """Seconds with two workers; those of a stage without parts are the same."""
    return f"{cost['seconds_by_workers'].get('2', cost['wall_s']):,}"


def flatness(runs: list[Figures]) -> str:
    """CPU-seconds per stage and bytes per document, by size of the run."""
    head = ("per million documents", *(f"{run['documents']:,}" for run in runs))
    names = [name for name in runs[0]["stages"] if all(name in run["stages"] for run in runs)]
    stages = [(f"{name}, CPU-seconds", *(f"{_per_million(run, 'cpu_s', name):.2f}" for run in runs)) for name in names]
    totals = [
        (f"all stages, {unit}", *(f"{sum(_per_million(run, key, name) for name in names):.2f}" for run in runs))
        for unit, key in (("CPU-seconds", "cpu_s"), ("seconds", "wall_s"))
    ]
    disk = ("most on disk, MB", *(f"{_disk(run):,.0f}" for run in runs))
    return table(head, [*stages, *totals, disk])


def larger(runs: list[Figures]) -> str:
    """Time, memory and disk for corpora larger than any measured, from the largest run."""
    head = ("documents", "CPU-hours", "of them in one process", "memory, GB", "disk, GB", "signatures, GB")
    run = [one for one in runs if all(name in one["stages"] for name in ALONE)][-1]
    per_million = {name: _per_million(run, "cpu_s", name) for name in run["stages"]}
    rows = []
    for documents in LARGER:
        itemsize = 4 if documents < 1 << 32 else 8
        hours = sum(per_million.values()) * documents / _MILLION / 3600
        alone = sum(per_million[stage] for stage in ALONE) * documents / _MILLION / 3600
        # What cluster_roots holds: two numbers per document.
        memory = run["memory_mb"] / 1000 + 2 * itemsize * documents / 1e9
        disk = (_FIXED_BYTES + max(_disk(run) - _FIXED_BYTES, 0) * itemsize / 4) * documents / 1e9
        signatures = _SIGNATURE_BYTES * documents / 1e9
        cells = (hours, alone, memory, disk, signatures)
        rows.append((f"{documents:,}", *(f"{cell:,.1f}" for cell in cells)))
    source = f"From the run over {run['documents']:,} documents."
    return f"### Larger corpora\n\n{source}\n\n{table(head, rows)}"


def _per_million(run: Figures, key: str, stage: str) -> float:
    return float(run["stages"][stage][key] * _MILLION / run["documents"])


def _disk(run: Figures) -> float:
    """Bytes per document that lie on disk at most, which is MB per million."""
    return float(max(cost["disk_mb"] for cost in run["stages"].values()) * _MILLION / run["documents"])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    write_tables(json.loads(FIGURES.read_text()))
