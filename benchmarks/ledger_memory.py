"""The memory of records of a fan-in: `python -m benchmarks.ledger_memory [--shards 2000 --chunks 1000] [--json]`.

Writes the records of `mixed_pass1` with a segment per chunk, of `mixed_pass2` with an input per shard, as a build does.
Bytes are those that Python's allocators hold, by (shard, chunk), once a worker or a driver has read them; the peak is
that of reading the snapshot. `job` is the message of a chunk's job, without what stages and settings add.
"""

import argparse
import json
import pickle
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resources.hashing import content_digest
from resources.ledger.ledger import FileRecord, Ledger, Record, partition_name
from resources.stage.jobs.keys import Keys
from resources.stage.settings import chunk_key
from resources.storage.local.store import LocalStorage


def measure(shards: int, chunks: int) -> dict[str, Any]:
    """Bytes per (shard, chunk), seconds, and bytes of a message."""
    keys = [f"web--part-{number:05d}.jsonl.gz" for number in range(shards)]
    names = [chunk_key(chunk) for chunk in range(chunks)]
    with tempfile.TemporaryDirectory() as folder:
        storage = LocalStorage(Path(folder), sync=False)
        _write(storage, "mixed_pass1", keys, names)
        _write(storage, "mixed_pass2", names, [partition_name("mixed_pass1", key) for key in keys])
        figures = {}
        for asset in ("mixed_pass1", "mixed_pass2"):
            for name, value in _read(storage, asset).items():
                figures[f"{asset}_{name}"] = value
    cells = shards * chunks
    found = {name: round(value / cells, 1) if "bytes" in name else value for name, value in figures.items()}
    return {**found, "job_keys_bytes": len(pickle.dumps(Keys(keys)))}


def _write(storage: LocalStorage, asset: str, keys: Sequence[str], names: Sequence[str]) -> None:
    ledger = Ledger(storage)
    for key in keys:
        digests = {name: content_digest(f"{key} {name}".encode()) for name in names}
        ledger.write(_record(asset, key, digests))
    ledger.records(asset)  # which leaves a snapshot


def _record(asset: str, key: str, digests: dict[str, str]) -> Record:
    scatters = asset == "mixed_pass1"
    return Record(
        asset=asset,
        partition=key,
        recipe="0" * 32,
        digest="0" * 32,
        inputs={} if scatters else digests,
        parameters={},
        code_version="1",
        files=[FileRecord(f"mixed/{asset}/{key}{suffix}", 1, "0" * 32, 1) for suffix in (".zst", ".json", ".npy")],
        segments=digests if scatters else {},
    )


def _read(storage: LocalStorage, asset: str) -> dict[str, float]:
    started = time.process_time()
    Ledger(storage).records(asset)
    seconds = time.process_time() - started
    ledger = Ledger(storage)
    tracemalloc.start()
    try:
        ledger.records(asset)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {"held_bytes": held, "peak_bytes": peak, "cpu_s": round(seconds, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=2000)
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.shards, given.chunks)
    print(json.dumps(figures) if given.json else "\n".join(f"{name:32}{value:>12,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
