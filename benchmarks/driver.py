"""The cost of the process that drives a build, and the gain of a second worker: `python -m benchmarks.driver`.

Options: `[--quick] [--shards N N] [--only-speedup] [--json]`.

Corpora of shards of ten short documents are built with two workers, each build in a process of its own. The driver's
CPU time is measured for two numbers of shards: the slope is its cost per partition, the intercept that of any build.
`worker_busy_share` is the share of the time from the first job to the last in which a worker computed or committed, by
the clock; `workers_cpu_s` is the CPU time in it, for which the workers and the driver compete. Then each corpus is
built again, and once more after one raw file changed. The keys that end in `_10000` are for 10,000
shards: if fewer were built (`measured_at_shards`), they lie on the line through both measurements.

`two_workers_speedup` is measured on a few larger shards: the wall time of the stages by shard (from the first job of
each to its last, waits included) with one worker over that with two, the least of several builds in turns.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

SHARDS, QUICK_SHARDS, GOAL_SHARDS = (2_000, 10_000), (20, 200), 10_000
DOCUMENTS, WORDS, WORKERS = 10, 60, 2
LARGE, QUICK_LARGE = (24, 12000, 3), (4, 100, 1)
"""Shards of the corpus on which one and two workers are compared, documents of each, and builds of each."""

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or", "is", "ut")]


def measure(sizes: tuple[int, int]) -> dict[str, Any]:
    """The figures of corpora of two sizes, in shards."""
    with tempfile.TemporaryDirectory() as place:
        (few, again_few, change_few), (many, again, change) = (_builds(Path(place, str(size)), size) for size in sizes)
    slope = (many["cpu_s"] - few["cpu_s"]) / (many["partitions"] - few["partitions"])
    return {
        "driver_cpu_ms_per_partition": round(slope * 1000, 2),
        "build_fixed_cpu_s": round(few["cpu_s"] - slope * few["partitions"], 2),
        "worker_busy_share": many["busy_share"],
        "workers_cpu_s": many["workers_cpu_s"],
        "second_build_s_10000": _at_goal(sizes, again_few["seconds"], again["seconds"]),
        "one_change_s_10000": _at_goal(sizes, change_few["seconds"], change["seconds"]),
        "measured_at_shards": sizes[1],
        "partitions": many["partitions"],
        "build_s": many["seconds"],
        "second_build_s": again["seconds"],
        "one_change_s": change["seconds"],
        "one_change_share": round(change["seconds"] / many["seconds"], 3),
        "one_change_partitions": change["partitions"],
        "driver_memory_mb": many["memory_mb"],
    }


def speedup(shards: int, documents: int, times: int) -> dict[str, Any]:
    """How many times as fast two workers are as one, over the stages by shard."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as place:
        folder = write_corpus(Path(place, "large"), shards, documents)
        build(folder)  # Kernels are compiled then, and the raw files are in the page cache.
        for workers in (1, 2) * times:
            shutil.rmtree(folder / "corpus")
            write_config(folder, workers)
            seconds[workers].append(build(folder)["shard_stages_s"])
    one, two = min(seconds[1]), min(seconds[2])
    return {
        "two_workers_speedup": round(one / two, 2),
        "shard_stages_one_worker_s": one,
        "shard_stages_two_workers_s": two,
    }


def _builds(folder: Path, shards: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The first build of a corpus, one with nothing to do, and one after a raw file changed."""
    write_corpus(folder, shards)
    first, again = build(folder), build(folder)
    assert again["partitions"] == 0, "the second build found something to do"
    write_shard(folder, 0, "another")
    return first, again, build(folder)


def _at_goal(sizes: tuple[int, int], few: float, many: float) -> float:
    """Seconds for 10,000 shards, on the line through two measurements."""
    more = (many - few) * (GOAL_SHARDS - sizes[1]) / (sizes[1] - sizes[0])
    return round(many + max(0.0, more), 2)


def write_corpus(folder: Path, shards: int, documents: int = DOCUMENTS) -> Path:
    """Raw shards of made-up documents, and a corpus.yaml with one small dataset."""
    (folder / "raw").mkdir(parents=True)
    for number in range(shards):
        write_shard(folder, number, "first", documents)
    write_config(folder, WORKERS)
    return folder


def write_config(folder: Path, workers: int) -> None:
    """The corpus.yaml of a corpus that so many workers build."""
    config = {
        "sources": [{"name": "made", "location": "raw"}],
        "storage": {"root": "corpus", "sync": False},
        "engine": {"kind": "benchmarks.timed_engine:open_timed", "options": {"workers": workers}},
        "tokenizer": {"kind": "train", "vocabulary": 300, "sample": 20_000},
        "datasets": [{"name": "train", "input": "decontaminated_train", "sequence_length": 64}],
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))


def write_shard(folder: Path, number: int, version: str, documents: int = DOCUMENTS) -> None:
    """One raw file; other versions hold other texts."""
    chance = random.Random(f"{version} {number}")
    texts = (" ".join("".join(chance.choices(_SYLLABLES, k=3)) for _ in range(WORDS)) for _ in range(documents))
    rows = [json.dumps({"id": f"{number}-{row}", "text": text}) for row, text in enumerate(texts)]
    (folder / f"raw/s{number:05}.jsonl").write_text("\n".join(rows) + "\n")


def build(folder: Path) -> dict[str, Any]:
    """The figures of one build in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.driver_run", str(folder)], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 and 200 shards")
    parser.add_argument("--shards", type=int, nargs=2, help="the two numbers of shards")
    parser.add_argument("--only-speedup", action="store_true", help="only compare one worker with two")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    sizes = tuple(given.shards) if given.shards else QUICK_SHARDS if given.quick else SHARDS
    figures = {} if given.only_speedup else measure(sizes)
    figures |= speedup(*QUICK_LARGE if given.quick else LARGE)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:32}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
