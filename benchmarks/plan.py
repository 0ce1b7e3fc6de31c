"""The cost of a plan: `python -m benchmarks.plan [--s3] [--quick] [--json]`.

The ledger is that of a finished corpus that was never computed (`benchmarks.synthetic`), with the default bands and
chunks. `first_look` reads every record; `again` is a new process's look with the snapshots the first one left.
With `--s3` the corpus lies in SeaweedFS on loopback, and requests are counted; the server's work is in the seconds.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.synthetic import write_synthetic
from corpus_assets.corpus.corpus import Corpus
from resources.ledger.ledger import SNAPSHOTS
from resources.planning.planner import Status
from resources.storage.s3.client import traffic
from tests.object_store import ENVIRONMENT, Server, seaweedfs

SHARDS, QUICK_SHARDS = (1_000, 10_000), (1_000,)


def measure(shards: Sequence[int]) -> dict[str, Any]:
    """Seconds per plan, by number of shards."""
    figures: dict[str, Any] = {}
    for number in shards:
        with tempfile.TemporaryDirectory() as folder:
            corpus = write_synthetic(Path(folder), number)
            shutil.rmtree(Path(corpus.storage.fetch(SNAPSHOTS)))
            config = Path(folder) / "corpus.yaml"
            figures[f"plan_{number}_shards_first_look_s"], _ = _plan(config)
            figures[f"plan_{number}_shards_again_s"], figures[f"plan_{number}_shards_partitions"] = _plan(config)
    return figures


def measure_s3(shards: Sequence[int]) -> dict[str, Any]:
    """Seconds and requests per plan of a corpus in an object store, by number of shards."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, _environment(), seaweedfs(Path(folder, "server")) as server:
        for number in shards:
            place = Path(folder, str(number))
            write_synthetic(place, number)
            config = _moved(place, server, f"synthetic-{number}")
            for look in ("first_look", "again"):
                before = sum(traffic().requests.values())
                name = f"s3_plan_{number}_shards"
                figures[f"{name}_{look}_s"], figures[f"{name}_partitions"] = _plan(config)
                figures[f"{name}_{look}_requests"] = sum(traffic().requests.values()) - before
    return figures


@contextmanager
def _environment() -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _moved(folder: Path, server: Server, prefix: str) -> Path:
    """Copies the store of a corpus into a bucket; returns the corpus.yaml that says so."""
    config = folder / "corpus.yaml"
    local = Corpus.open(config).storage
    values = yaml.safe_load(config.read_text())
    cache = {"folder": "cache"}
    values["storage"] = {"root": f"s3://{server.bucket}/{prefix}", "s3": server.section, "cache": cache}
    config.write_text(yaml.safe_dump(values))
    remote = Corpus.open(config).storage

    def copied(path: str) -> None:
        with local.open(path) as file:
            remote.write(path, file.read())

    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(copied, (path for path in local.paths("") if not path.startswith(SNAPSHOTS))):
            pass
    return config


def _plan(config: Path) -> tuple[float, int]:
    started = time.perf_counter()
    decisions = Corpus.open(config).planner().plan().decisions
    seconds = round(time.perf_counter() - started, 2)
    assert all(decision.status is Status.FRESH for decision in decisions), "the synthetic corpus is not fresh"
    return seconds, len(decisions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 shards only")
    parser.add_argument("--s3", action="store_true", help="in an object store (SeaweedFS on loopback)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = (measure_s3 if given.s3 else measure)(QUICK_SHARDS if given.quick else SHARDS)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:40}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
