"""Near-duplicates at the size of a whole corpus: `python -m benchmarks.scale [--documents 1e6] [--quick] [--json]`.

Band keys, sketches and digests of documents without text (`benchmarks.related`) are stored shard by shard, as the
assets store them, in a temporary folder (`TMPDIR` says where). Then every global stage runs, its partitions by one
worker and by two: wall and CPU seconds, peak resident memory, and the most bytes that lay on disk. The clusters found
are compared with the known ones. `--publish` adds the figures to `docs/scale.md`. `--pairs` runs the stages after pairs
alone, over pairs that are made up, and leaves the figures of the others.
"""

import argparse
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scale_page
from benchmarks.related import BITS
from benchmarks.scale_run import Run, Scratch
from benchmarks.scale_stages import FROM_PAIRS, IN_PARTS, MEASURED, SPENT, STAGES, checked
from corpus_assets.config.selection.dedup import DEFAULT_RANGES
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.signatures.sketches import WORD_BITS
from corpus_assets.dedup.similarity.sketch_join import row_type

DOCUMENTS, QUICK_DOCUMENTS = 1_000_000, 100_000
MEMORY = 4 << 30
WORKERS, MOST_WORKERS = (1, 2), 2
"""Numbers of workers with which the stages that have parts are measured; inputs are made by the most."""

LEAST_FOUND, MOST_WRONG = 0.98, 0.001

_MEMORY_UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}


def run_stage(name: str, run: Run) -> dict[str, Any]:
    """One stage from this process, and what it cost."""
    if name in MEASURED:
        _load_kernels()
    before, wall, cpu = run.disk(), time.perf_counter(), _cpu_seconds()
    costs: dict[str, Any] = dict({**STAGES, **FROM_PAIRS}[name](run))
    costs["wall_s"] = round(time.perf_counter() - wall, 2)
    costs["cpu_s"] = round(_cpu_seconds() - cpu, 2)
    costs.setdefault("peak_rss_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    costs["scratch_mb"] = Scratch.most // 1_000_000
    costs["results_mb"] = (run.disk() - before) // 1_000_000
    # The most there can have been at once: the last results may be written when the scratch files are gone.
    costs["disk_mb"] = (run.disk() + Scratch.most) // 1_000_000
    return costs


def _cpu_seconds() -> float:
    """CPU time of this process and of those it has started and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _load_kernels() -> None:
    """Loading compiled code costs the same for any number of documents, so it is done before the clock starts."""
    edges = np.array([[0, 1]], dtype=np.uint32)
    forest = UnionFind(2)
    forest.add(edges)
    assert len(list(forest.clusters())) == 1
    sketches = np.zeros((2, BITS // 8), dtype=np.uint8)
    candidates = np.zeros(1, dtype=row_type(2, BITS // WORD_BITS))
    candidates["pair"] = edges
    found = checked(
        [candidates], lambda start, stop: sketches[start:stop], (0, 2), total=2, memory=1 << 20, spill=io.BytesIO
    )
    assert sum(map(len, found)) == 1


def measure(documents: int, memory: int, ranges: int, *, from_pairs: bool = False) -> dict[str, Any]:
    """Costs by stage with one worker, seconds with more, and how good the clusters are; raises if they are not good."""
    stages = FROM_PAIRS if from_pairs else STAGES
    costs: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in stages:
            for workers in WORKERS if name in IN_PARTS else (MOST_WORKERS,):
                options = ["--documents", str(documents), "--memory", str(memory), "--ranges", str(ranges)]
                found = in_process(["--stage", name, "--folder", folder, "--workers", str(workers), *options])
                costs.setdefault(name, found)
                costs[name].setdefault("seconds_by_workers", {})[str(workers)] = found["wall_s"]
            for pattern in SPENT.get(name, ()):
                for path in Path(folder).glob(pattern):
                    path.unlink()
    found = costs.pop("comparison")
    recall, wrong = found["right"] / found["known_duplicates"], found["wrong"] / max(found["right"], 1)
    if recall < LEAST_FOUND or wrong > MOST_WRONG:
        raise AssertionError(f"{recall:.4f} of the known duplicates found, {wrong:.6f} as many wrong ones")
    return {
        "documents": documents,
        "ranges": ranges,
        "memory_mb": memory // 1_000_000,
        "duplicates_found": round(recall, 5),
        "duplicates_wrong": round(wrong, 7),
        "stages": {name: costs[name] for name in MEASURED if name in costs},
        "generation": {name: costs[name] for name in costs if name not in MEASURED},
    }


def in_process(options: list[str]) -> dict[str, Any]:
    """The costs of one stage in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", *options]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=float, help=f"how many (default {DOCUMENTS:,})")
    parser.add_argument("--memory", type=_bytes, default=MEMORY, help="working set, such as 4GiB (the default)")
    parser.add_argument("--pairs", action="store_true", help="only the stages after pairs, which are made up")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DOCUMENTS:,} documents")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--publish", action="store_true", help="add the figures to docs/scale.md")
    parser.add_argument("--ranges", type=int, default=DEFAULT_RANGES, help="partitions of the stages by range")
    parser.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    documents = int(given.documents or (QUICK_DOCUMENTS if given.quick else DOCUMENTS))
    if given.stage:
        run = Run(given.folder, documents, given.memory, workers=given.workers, ranges=given.ranges)
        print(json.dumps(run_stage(given.stage, run)))
        return
    figures = measure(documents, given.memory, given.ranges, from_pairs=given.pairs)
    if given.publish:
        scale_page.publish(figures)
    print(json.dumps(figures) if given.json else scale_page.stage_table(figures))


def _bytes(text: str) -> int:
    """Bytes of "4GiB", "512MiB" or a plain number."""
    for unit, factor in _MEMORY_UNITS.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * factor)
    return int(text)


if __name__ == "__main__":
    main()
