"""The cost of raw files on other machines: `python -m benchmarks.raw_places [--quick] [--json]`.

The same files, `jsonl.gz`, in a local folder, in an object store (SeaweedFS, extra `s3-server`) and on a web server,
the last two on loopback in processes of their own. CPU-seconds of the building process per MB (10^6 bytes) of document
text, of the stages that read raw files: `raw_source` and `normalized_documents`. The places take turns, each in a new
store; the least of several rounds counts. `moved` is bytes received per byte of the raw files, which are read twice.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_raw
from benchmarks.printed import printed
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.storage.s3.client import client, traffic
from tests.object_store import ENVIRONMENT, Server, seaweedfs, weed

MEGABYTES, QUICK_MEGABYTES, ROUNDS = 64, 8, 3
STAGES = ("raw_source", "normalized_documents")


def measure(megabytes: int, rounds: int = ROUNDS) -> dict[str, Any]:
    """CPU-seconds per MB of text for each place, and their ratios to a local folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources, _ = write_raw(folder / "raw", megabytes)
        with _web_server(folder) as url, _object_store(folder) as server:
            local = [source | {"location": str(folder / source["location"])} for source in sources]
            places = {"local": local, "web": [_on_web(source, url, folder) for source in sources]}
            if server is not None:
                places["s3"] = [_in_store(source, server, folder) for source in sources]
            return _figures(folder, places, rounds)


def _figures(folder: Path, places: dict[str, list[dict[str, Any]]], rounds: int) -> dict[str, Any]:
    costs: dict[str, list[float]] = {place: [] for place in places}
    text_mb, moved = 0.0, 0.0
    for turn in range(rounds + 1):
        for place, sources in places.items():
            before = traffic().received
            seconds, text_mb, raw_bytes = _built(folder / "work", sources)
            if turn:  # In the first one libraries are loaded.
                costs[place].append(seconds / text_mb)
            if place == "s3":
                moved = (traffic().received - before) / raw_bytes
    figures: dict[str, Any] = {"raw_places_text_mb": round(text_mb, 1)}
    figures |= {f"raw_{place}_cpu_s_per_mb": round(min(found), 5) for place, found in costs.items()}
    figures |= {f"raw_{place}_cpu_ratio": round(min(costs[place]) / min(costs["local"]), 3) for place in places}
    return figures | ({"raw_s3_moved": round(moved, 3)} if "s3" in places else {})


def _built(folder: Path, sources: list[dict[str, Any]]) -> tuple[float, float, int]:
    """Returns CPU-seconds, MB of text and bytes of raw files of the stages that read them, in an empty store."""
    shutil.rmtree(folder / "corpus", ignore_errors=True)
    folder.mkdir(exist_ok=True)
    values = {"sources": sources, "storage": {"sync": False}, "engine": {"workers": 0, "memory": "1 GiB"}}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    corpus = Corpus.open(folder / "corpus.yaml")
    Step(corpus, corpus.graph["inventory"]).run()
    started, outcomes = time.process_time(), []
    for stage in STAGES:
        step = Step(corpus, corpus.graph[stage])
        outcomes += step.run()
        assert not step.failures(), step.failures()
    seconds = time.process_time() - started
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    text = sum(record.statistics.get("text_bytes", 0) for record in records)
    raw_bytes = sum(record.statistics["bytes"] for record in records if record.asset == "raw_source")
    return seconds, text / 1e6, raw_bytes


def _on_web(source: dict[str, Any], url: str, folder: Path) -> dict[str, Any]:
    top = folder / source["location"]
    lines = (path.relative_to(top).as_posix() for path in sorted(top.rglob("*")) if path.is_file())
    (top / "all.urls").write_text("\n".join(lines))
    return source | {"location": f"{url}/{source['location']}/all.urls"}


def _in_store(source: dict[str, Any], server: Server, folder: Path) -> dict[str, Any]:
    for path in sorted((folder / source["location"]).rglob("*.gz")):
        key = path.relative_to(folder).as_posix()
        client(server.settings).upload_file(str(path), server.bucket, key)
    return source | {"location": f"s3://{server.bucket}/{source['location']}", "s3": server.section}


@contextmanager
def _object_store(folder: Path) -> Iterator[Server | None]:
    if weed() is None:
        yield None
        return
    os.environ.update(ENVIRONMENT)
    with seaweedfs(folder / "store") as server:
        yield server


@contextmanager
def _web_server(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.web_server", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    printed(__doc__, lambda quick: measure(QUICK_MEGABYTES, 1) if quick else measure(MEGABYTES))
