"""The cost of engines: `python -m benchmarks.engines [--quick] [--json]`, with the extra `ray`.

The engine of this machine and a Ray cluster of one machine that starts for the measurement, each with one worker and
with two.

`local_efficiency`, `ray_efficiency`: the time of all stages by shard with one worker over twice that with two, on a
corpus of some larger shards. The four take turns, and the best time of each counts; in each turn an engine builds once
before it is timed, so that workers and kernels are loaded.
`local_busy_share`, `ray_busy_share`: the share of the time of two workers that is work on partitions. The other losses
are the machine's: two workers share its caches and its memory.
`local_empty_ms`, `ray_empty_ms`: time per partition of a stage that does nothing, with two workers; each is computed
and committed. `local_message_ms`, `ray_message_ms`: the same of jobs that commit nothing: the engine alone.
`benchmarks.worker_memory` measures the memory of a worker, with and without data.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from benchmarks.driver import write_corpus
from benchmarks.empty_jobs import nothing, returned
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.engine.interface import Engine
from resources.engine.local import LocalEngine
from resources.engine.ray import RayEngine
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from resources.storage.holders import this_process
from resources.storage.local.store import LocalStorage

SHARDS, QUICK_SHARDS = (32, 6_000, 3), (4, 100, 1)
"""Shards of the corpus, documents of each, and turns of every engine."""

EMPTY, QUICK_EMPTY = 10_000, 300
_MEMORY = 2 << 30


@dataclass(frozen=True)
class _Build:
    """How long the stages by shard of a build took by the clock, and how long the work on their partitions."""

    seconds: float
    worked: float


def measure(shards: int, documents: int, turns: int, empty: int) -> dict[str, Any]:
    """The figures of both engines, and how many times as dear an empty partition is on Ray; without it of one alone."""
    found: dict[str, Any] = {}
    kinds = engine_kinds()
    with tempfile.TemporaryDirectory() as place:
        folder = write_corpus(Path(place, "corpus"), shards, documents)
        builds: dict[tuple[str, int], list[_Build]] = {(kind, workers): [] for kind in kinds for workers in (1, 2)}
        for turn in range(turns):
            for (kind, workers), made in builds.items():
                made.append(_shard_stages(folder, kind, workers, turn))
        for kind in kinds:
            found |= _efficiency(
                kind, *(min(builds[kind, workers], key=lambda build: build.seconds) for workers in (1, 2))
            )
            found[f"{kind}_empty_ms"] = _per_job_ms(kind, run_job, empty, Path(place, f"{kind}-empty"))
            found[f"{kind}_message_ms"] = _per_job_ms(kind, returned, empty, Path(place, f"{kind}-message"))
    if "ray_empty_ms" in found:
        found["ray_overhead_ratio"] = round(found["ray_empty_ms"] / found["local_empty_ms"], 2)
    return found


def engine_kinds() -> Sequence[str]:
    """The engines that can be measured here; Ray's comes with an extra."""
    return ("local", "ray") if find_spec("ray") else ("local",)


def _efficiency(kind: str, one: _Build, two: _Build) -> dict[str, float]:
    return {
        f"{kind}_one_worker_s": round(one.seconds, 2),
        f"{kind}_two_workers_s": round(two.seconds, 2),
        f"{kind}_efficiency": round(one.seconds / two.seconds / 2, 3),
        f"{kind}_busy_share": round(two.worked / two.seconds / 2, 3),
    }


@contextmanager
def opened(kind: str, workers: int, work: Callable[[Job], Outcome] = run_job) -> Iterator[Engine]:
    """An engine that ends with the block; on Ray with a cluster of its own, whose workers have our priority."""
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default of 15 loses to whatever else the machine does.
    made: Engine = LocalEngine(workers, work) if kind == "local" else RayEngine("local", workers, _MEMORY, work=work)
    try:
        yield made
    finally:
        made.close()


def _shard_stages(folder: Path, kind: str, workers: int, turn: int) -> _Build:
    """A build with warm workers."""
    with opened(kind, workers) as engine:
        build(folder, engine, f"{kind}-{workers}-{turn}-warm")
        return build(folder, engine, f"{kind}-{workers}-{turn}")


def build(folder: Path, engine: Engine, store: str) -> _Build:
    """Builds the corpus into a new store."""
    config = yaml.safe_load((folder / "corpus.yaml").read_text())
    config |= {"storage": {"root": store, "sync": False}, "engine": {"workers": 2}}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    corpus = Corpus.open(folder / "corpus.yaml")
    corpus.__dict__["engine"] = engine
    seconds = worked = 0.0
    for stage in corpus.graph:
        taken = _step(corpus, stage)
        if stage.partitioning is Partitioning.SHARD:
            seconds += taken
            worked += sum(record.numbers["seconds"] for record in corpus.ledger.records(stage.name).values())
    return _Build(seconds, worked)


def _step(corpus: Corpus, stage: Stage) -> float:
    step = Step(corpus, stage)
    started = time.monotonic()
    step.run()
    assert not step.failures(), step.failures()[0]
    return time.monotonic() - started


def _per_job_ms(kind: str, work: Callable[[Job], Outcome], count: int, folder: Path) -> float:
    """Milliseconds per job of a stage that does nothing, with two workers that have done some before."""
    stage = Stage("empty", "measured", "", Partitioning.CHUNK, nothing, "1", "records")
    store = LocalStorage(folder, False)
    jobs = (Job(stage, f"chunk-{n:05}", (), {}, {}, store, 1 << 20) for n in range(count + 100))
    folder.mkdir()
    with store.shared(this_process()), opened(kind, 2, work) as engine:
        assert [outcome.error for outcome in engine.run(next(jobs) for _ in range(100))] == [None] * 100
        started = time.monotonic()
        done = [outcome.error for outcome in engine.run(jobs)]
        seconds = time.monotonic() - started
    assert done == [None] * count
    return round(seconds / count * 1000, 3)


def figures(quick: bool) -> dict[str, Any]:
    """The figures of large shards, or of few and small ones."""
    return measure(*(QUICK_SHARDS if quick else SHARDS), QUICK_EMPTY if quick else EMPTY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and small shards")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    found = figures(given.quick)
    print(json.dumps(found) if given.json else "\n".join(f"{name:24}{value:>10,}" for name, value in found.items()))


if __name__ == "__main__":
    main()
