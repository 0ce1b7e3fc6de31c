"""The cost of a plan: `python -m benchmarks.plan [--quick] [--json]`.

The ledger is that of a finished corpus that was never computed (`benchmarks.synthetic`), with the default bands and
chunks. `first_look` reads every record; `again` is a new process's look with the snapshots the first one left.
`s3` figures: the corpus lies in SeaweedFS on loopback, and requests are counted; the server's work is in the seconds.
"""

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

from benchmarks.printed import printed
from benchmarks.synthetic import write_synthetic
from corpus_assets.corpus.corpus import Corpus
from resources.ledger.ledger import SNAPSHOTS
from resources.planning.planner import Status
from resources.storage.s3.client import traffic
from tests.object_store import ENVIRONMENT, Server, seaweedfs, weed

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


def figures(quick: bool) -> dict[str, Any]:
    """Figures of a local folder, and of an object store where SeaweedFS is installed."""
    shards = QUICK_SHARDS if quick else SHARDS
    return measure(shards) | (measure_s3(shards) if weed() else {})


if __name__ == "__main__":
    printed(__doc__, figures)
