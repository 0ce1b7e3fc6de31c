"""A corpus built on a local disk and on S3, side by side: `python -m benchmarks.stores [--quick] [--json] [--profile]`.

The sample corpus ten times over (`--quick`: once) is built in one process for each store, after a build of a small one
that compiles kernels. S3 is SeaweedFS on loopback (extra `s3-server`), whose own work is not counted: CPU seconds
are those of the building process, imports and threads included. `--profile` prints where the build on S3 spends them.

`s3_cpu_ratio`: CPU seconds of the build on S3 over those of the local one. `requests_per_partition`: requests of all
kinds over committed partitions. `of_leases_PutObject` and so on: those that a partition takes, by what they are about
and by operation, each counted once however often it was tried. `bytes_moved_per_text_byte`: bytes of bodies sent and
received over those of normalized text. `bytes_read_twice`: bytes of objects that the build was sent although it had
had them.
"""

import argparse
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from cProfile import Profile
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build as build_corpus
from corpus_assets.orchestration.building.report import Progress
from resources.errors import CorpusError
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome
from resources.storage.s3.client import client, traffic
from resources.storage.s3.store import S3Storage
from tests.object_store import ENVIRONMENT, Server, seaweedfs

MEGABYTES, QUICK_MEGABYTES, WARM_MEGABYTES = 240, 24, 2
_PROFILED = 40
_ABOUT = {".leases": "leases", ".builders": "builders", "ledger": "records", "owner.json": "records", ".probe": "probe"}


def measure(megabytes: int, *, profile: bool = False) -> dict[str, Any]:
    """Build one corpus on both stores. megabytes: of text."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        config, kind = write_corpus(folder / "corpus", megabytes)
        _run(write_corpus(folder / "warm", WARM_MEGABYTES)[0])
        local = _run(config)
        with seaweedfs(folder / "server") as server:
            s3 = _run(_on_s3(config, server), profile=profile)
    if local.pop("content") != s3.pop("content"):
        raise CorpusError("the content of the two builds differs")
    return figures_of(local, s3) | {"corpus": kind}


def _on_s3(local: Path, server: Server) -> Path:
    """Writes the configuration of the same corpus with a store on S3."""
    config = yaml.safe_load(local.read_text())
    root, cache = f"s3://{server.bucket}/benchmark", {"folder": str(local.parent / "cache")}
    config["storage"] = {"root": root, "s3": server.section, "cache": cache}
    path = local.with_name("on-s3.yaml")
    path.write_text(yaml.safe_dump(config))
    return path


def _run(config: Path, *, profile: bool = False) -> dict[str, Any]:
    """Builds a corpus in a process of its own; returns what it cost."""
    command = [sys.executable, "-m", "benchmarks.stores", "--build", str(config), *(["--profile"] if profile else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | ENVIRONMENT)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures_of(local: dict[str, Any], s3: dict[str, Any]) -> dict[str, Any]:
    """The figures of two builds of one corpus."""
    text = s3["text_bytes"]
    requests = {f"requests_{name}": count for name, count in sorted(s3["requests"].items())}
    requests |= {f"of_{name}": round(count / s3["partitions"], 2) for name, count in sorted(s3["about"].items())}
    return {
        "s3_cpu_ratio": round(s3["cpu_s"] / local["cpu_s"], 3),
        "local_cpu_s_per_mb": round(local["cpu_s"] / text * 1e6, 4),
        "s3_cpu_s_per_mb": round(s3["cpu_s"] / text * 1e6, 4),
        "requests_per_partition": round(sum(s3["requests"].values()) / s3["partitions"], 2),
        "bytes_moved_per_text_byte": round((s3["sent"] + s3["received"]) / text, 2),
        "bytes_read_twice": s3["read_twice"],
        "text_mb": round(text / 1e6, 1),
        "partitions": s3["partitions"],
        "local_s": local["seconds"],
        "s3_s": s3["seconds"],
        "bytes_sent": s3["sent"],
        "bytes_received": s3["received"],
        **requests,
    }


class Asked:
    """The requests of this process by what they are about, and the places of objects that it was sent."""

    def __init__(self, storage: S3Storage) -> None:
        self.about: Counter[str] = Counter()
        self._top = len(storage.address.key(""))
        self._read: dict[str, list[tuple[int, int]]] = defaultdict(list)
        events = client(storage.settings).meta.events
        events.register("before-parameter-build.s3", self._counted)
        events.register("before-parameter-build.s3.GetObject", self._asked)
        events.register("after-call.s3.GetObject", self._answered)

    def twice(self) -> int:
        """Bytes that were sent although they had been."""
        return sum(sum(stop - start for start, stop in spans) - _covered(spans) for spans in self._read.values())

    def _counted(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        top = params.get("Key", params.get("Prefix", ""))[self._top :].partition("/")[0]
        self.about[f"{_ABOUT.get(top, 'files')}_{model.name}"] += 1

    def _asked(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["key_of_benchmark"] = params["Key"]

    def _answered(self, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if "Body" in parsed:
            start = int(parsed.get("ContentRange", "bytes 0-").split()[1].partition("-")[0])
            self._read[context["key_of_benchmark"]].append((start, start + parsed["ContentLength"]))


def _covered(spans: list[tuple[int, int]]) -> int:
    """Bytes that lie in any of the spans."""
    found = end = 0
    for start, stop in sorted(spans):
        found += max(0, stop - max(start, end))
        end = max(end, stop)
    return found


def build(config: Path) -> dict[str, Any]:
    """Build a corpus in this process and say what it cost."""
    started, corpus = time.perf_counter(), Corpus.open(config)
    asked = Asked(corpus.storage) if isinstance(corpus.storage, S3Storage) else None
    report = build_corpus(corpus, list(corpus.graph), _Silent(), checks=False)
    usage, moved = resource.getrusage(resource.RUSAGE_SELF), traffic()
    if not report.ok:
        raise CorpusError(f"the build failed: {report.failed}")
    records = {stage.name: corpus.ledger.records(stage.name) for stage in corpus.graph}
    return {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        "seconds": round(time.perf_counter() - started, 2),
        "partitions": report.recomputed,
        "text_bytes": sum(one.statistics["text_bytes"] for one in records["normalized_documents"].values()),
        "requests": moved.requests,
        "sent": moved.sent,
        "received": moved.received,
        "about": asked.about if asked else {},
        "read_twice": asked.twice() if asked else 0,
        "content": {f"{name}/{key}": one.digest for name, found in records.items() for key, one in found.items()},
    }


class _Silent(Progress):
    def stage(self, stage: Stage, due: int) -> None:
        """Says nothing."""

    def outcome(self, outcome: Outcome) -> None:
        """Says nothing."""


def _profiled(config: Path) -> dict[str, Any]:
    with Profile() as profile:
        found = build(config)
    pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(_PROFILED)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the sample corpus once")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--profile", action="store_true", help="print where the build on S3 spends its time")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        print(json.dumps(_profiled(given.build) if given.profile else build(given.build)))
        return
    os.environ.update(ENVIRONMENT)
    figures = measure(QUICK_MEGABYTES if given.quick else MEGABYTES, profile=given.profile)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:40}{value:>16}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
