"""The cost of a tick of the sensor: `python -m benchmarks.sensor [--quick] [--json]`.

The ledger is that of a finished corpus that was never computed (`benchmarks.synthetic`), and the Dagster database lies
in SQLite files, as `corpus ui` has it. A tick is a call of the sensor in a process that lives on, as the code server
does; CPU seconds are those of that process, the least of several ticks.

`first` is the tick that registers all shards, `unchanged` one over a fresh corpus, `failed` one where a shard of ten
has failed and nothing changed since, `gone` the tick that finds half of the raw files removed, `stale` one where a
parameter of all shards that are left has changed. `memory` is what this process grows by in the later half of the
ticks over a fresh corpus.
"""

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import psutil

from benchmarks.synthetic import write_synthetic
from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.freshness.failures import KeptFailures
from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.sensor import corpus_sensor
from resources.stage.jobs.job import Outcome

SHARDS, QUICK_SHARDS = (1_000, 10_000), (100, 1_000)
TICKS, _CHANGES = 8, 3
_OF_TEN = 10


def measure(shards: Sequence[int]) -> dict[str, Any]:
    """CPU seconds of a tick by number of shards, and per shard and by itself from the least and the most of them."""
    found = {number: _of(number) for number in shards}
    few, many = found[shards[0]], found[shards[-1]]
    figures: dict[str, Any] = {}
    for name in few:
        figures |= {f"{name}_{number}": round(found[number][name], 3) for number in shards}
        if name.endswith("_cpu_s"):
            slope = (many[name] - few[name]) / (shards[-1] - shards[0])
            figures[f"{name.removesuffix('_s')}_ms_per_shard"] = round(1000 * slope, 3)
            figures[f"{name.removesuffix('_s')}_fixed_s"] = round(few[name] - slope * shards[0], 3)
    return figures


def _of(shards: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "home").mkdir()
        write_synthetic(place, shards)
        corpus = Corpus.open(place / "corpus.yaml")
        with dg.DagsterInstance.local_temp(str(place / "home")) as instance:
            for stage in corpus.graph:
                instance.report_runless_asset_event(dg.AssetMaterialization(asset_key(stage.name)))
            first, _ = _tick(corpus, instance)
            unchanged, memory = _ticks(corpus, instance)
            _fail(corpus)
            _tick(corpus, instance)
            failed, _ = _ticks(corpus, instance)
            for file in sorted((place / "raw").rglob("*.jsonl"))[::2]:
                file.unlink()
            gone, _ = _tick(corpus, instance)
            changed = Corpus.open(place / "corpus.yaml", ["short_documents.threshold=100", "normalize.method=none"])
            stale = min(_tick(changed, instance)[0] for _ in range(_CHANGES))
    return {
        "first_cpu_s": first,
        "unchanged_cpu_s": unchanged,
        "failed_cpu_s": failed,
        "gone_cpu_s": gone,
        "stale_cpu_s": stale,
        "memory_mb": memory,
    }


def _ticks(corpus: Corpus, instance: dg.DagsterInstance) -> tuple[float, float]:
    """CPU seconds of the fastest tick that asks for nothing; by how many MB the process grows in the later half."""
    seconds, grown = [], 0
    for number in range(TICKS):
        if number == TICKS // 2:
            grown = _memory()
        taken, found = _tick(corpus, instance)
        assert isinstance(found, dg.SkipReason), f"the sensor asks for {found}"
        seconds.append(taken)
    return min(seconds), (_memory() - grown) / 1e6


def _memory() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def _tick(corpus: Corpus, instance: dg.DagsterInstance) -> tuple[float, Any]:
    sensor = corpus_sensor(corpus, build_job(corpus))
    started = time.process_time()
    found = sensor(dg.build_sensor_context(instance=instance))
    return time.process_time() - started, found


def _fail(corpus: Corpus) -> None:
    """One shard of ten has another text and could not be read: nothing of it can start."""
    stage = corpus.graph["normalized_documents"]
    keys = corpus.planner().partitions(stage)[::_OF_TEN]
    for key in keys:
        assert key is not None
        corpus.ledger.forget(stage.name, key)
    planner = corpus.planner()
    kept = KeptFailures(corpus.storage)
    for key in keys:
        name = f"{stage.name}/{key}"
        kept.note(planner, Outcome(name, stage.name, key, error="line 1: not JSON"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer shards")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_SHARDS if given.quick else SHARDS)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:40}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
