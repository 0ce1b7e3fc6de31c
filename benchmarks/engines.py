"""What engines cost: `python -m benchmarks.engines [--quick] [--json]`, with the extra `ray`.

The engine of this machine and a Ray cluster of one machine that starts for the measurement, each with one worker and
with two.

`local_efficiency`, `ray_efficiency`: the time of all stages by shard with one worker over twice that with two, on a
corpus of some larger shards; each engine builds it once before, so that workers and kernels are loaded.
`local_empty_ms`, `ray_empty_ms`: time per partition of a stage that does nothing, with two workers; each is computed
and committed. `local_message_ms`, `ray_message_ms`: the same of jobs that commit nothing: the engine alone.
`local_worker_mb`, `ray_worker_mb`: memory of a worker of its own, after every stage of a small corpus ran in it.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import yaml

from benchmarks.driver import write_corpus
from benchmarks.empty_jobs import nothing, returned
from corpus_assets.corpus import Corpus
from resources.engine.interface import Engine
from resources.engine.local import LocalEngine
from resources.engine.ray import RayEngine
from resources.stage.declaration import Partitioning, Stage
from resources.stage.job import Job, Outcome, run_job
from resources.storage.holders import this_process
from resources.storage.local import LocalStorage

SHARDS, QUICK_SHARDS = (16, 3000, 1), (4, 100, 1)
"""Shards of the corpus, documents of each, and timed builds."""

EMPTY, QUICK_EMPTY = 10_000, 300
_MEMORY = 2 << 30


def measure(shards: int, documents: int, times: int, empty: int) -> dict[str, Any]:
    """The figures of both engines, and how many times as dear an empty partition is on Ray; without it of one alone."""
    found: dict[str, Any] = {}
    for kind in ("local", "ray") if find_spec("ray") else ("local",):
        with tempfile.TemporaryDirectory() as place:
            folder = write_corpus(Path(place, "corpus"), shards, documents)
            one, _ = _shard_stages(folder, kind, 1, times)
            two, worker = _shard_stages(folder, kind, 2, times)
            found |= {f"{kind}_one_worker_s": round(one, 2), f"{kind}_two_workers_s": round(two, 2)}
            found |= {f"{kind}_efficiency": round(one / two / 2, 3), f"{kind}_worker_mb": worker >> 20}
            found[f"{kind}_empty_ms"] = _per_job_ms(kind, run_job, empty, Path(place, "empty"))
            found[f"{kind}_message_ms"] = _per_job_ms(kind, returned, empty, Path(place, "message"))
    if "ray_empty_ms" in found:
        found["ray_overhead_ratio"] = round(found["ray_empty_ms"] / found["local_empty_ms"], 2)
    return found


@contextmanager
def _engine(kind: str, workers: int, work: Callable[[Job], Outcome]) -> Iterator[Engine]:
    """An engine that ends with the block; on Ray with a cluster of its own, whose workers have our priority."""
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default of 15 loses to whatever else the machine does.
    made: Engine = LocalEngine(workers, work) if kind == "local" else RayEngine("local", workers, _MEMORY, work=work)
    try:
        yield made
    finally:
        made.close()


def _shard_stages(folder: Path, kind: str, workers: int, times: int) -> tuple[float, int]:
    """Seconds of the stages by shard, the least of some builds, and the bytes that are a worker's own after them."""
    with _engine(kind, workers, run_job) as engine:
        seconds = [_build(folder, engine, f"{kind}-{workers}-{number}") for number in range(times + 1)]
        return min(seconds[1:]), max(_own_bytes())


def _build(folder: Path, engine: Engine, store: str) -> float:
    """Builds the corpus into a new store; returns the seconds of the stages by shard."""
    config = yaml.safe_load((folder / "corpus.yaml").read_text())
    config |= {"storage": {"root": store, "sync": False}, "engine": {"workers": 2}}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    corpus = Corpus.open(folder / "corpus.yaml")
    corpus.__dict__["engine"] = engine
    return sum(_step(corpus, stage) for stage in corpus.graph)


def _step(corpus: Corpus, stage: Stage) -> float:
    step = corpus.step(stage)
    started = time.monotonic()
    step.run()
    assert not step.failures(), step.failures()[0]
    return time.monotonic() - started if stage.partitioning is Partitioning.SHARD else 0.0


def _own_bytes() -> Iterator[int]:
    """Yields the memory of each process below this one that is shared with no other; 0 for none."""
    yield 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            name = " ".join(process.cmdline())
            if "ray::" not in name or "ray::serve" in name or "ray::IDLE" in name:
                yield process.memory_full_info().uss


def _per_job_ms(kind: str, work: Callable[[Job], Outcome], count: int, folder: Path) -> float:
    """Milliseconds per job of a stage that does nothing, with two workers that have done some before."""
    stage = Stage("empty", "measured", "", Partitioning.CHUNK, nothing, "1", "records")
    store = LocalStorage(folder, False)
    jobs = (Job(stage, f"chunk-{n:05}", (), {}, {}, store, 1 << 20) for n in range(count + 100))
    folder.mkdir()
    with store.shared(this_process()), _engine(kind, 2, work) as engine:
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
