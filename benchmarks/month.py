"""A month at 4,096 cores, simulated: `python -m benchmarks.month [--text 10TB] [--files 1000] [--days 30] [--quick]`.

The planner, the builder, leases and commit records are the real ones; the cluster and its clock are not
(`benchmarks.month_cluster`): machines are lost, disks are slow, the store answers 503, and the driver is killed. Every
day raw files are added, edited and deleted, every week a parameter changes, and `corpus build` runs until all is fresh.
At the end every digest is compared with that of one build of the last state on a cluster without faults.

`twice_percent` is the share of all CPU seconds of the cluster that were spent on attempts that committed nothing, or on
partitions of which a record of the same recipe existed before. Plans and the driver are measured, not simulated; so is
a plan of a million partitions, of which all are fresh.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.cluster import DOCUMENT_BYTES, ranges_of, size
from benchmarks.month_cluster import DAY, HOUR, Faults, Spent
from benchmarks.synthetic import write_synthetic
from corpus_assets.corpus.corpus import Corpus
from resources.hashing import content_digest
from resources.ledger.ledger import SNAPSHOTS

CORES, DAYS = 4_096, 30
SHARD_STAGES = 7
"""Partitions of a raw file in the synthetic corpus."""

SOURCES = ("books", "web", "notes")
ADDED, EDITED, DELETED = 0.01, 0.001, 0.0005
"""Shares of the raw files that are added, edited and deleted on a day."""
KILLED = 0.2
"""The chance that the machine of the driver is lost during a day's first build."""
WEEKLY: tuple[dict[str, Any], ...] = (
    {"dedup": {"threshold": 0.85}},
    {"mix": {"seed": 2}},
    {"normalize": {"method": "none"}},
    {"split": {"seed": 3}},
)
MOST_BUILDS = 8
"""Builds of a day, of which each computes what failed in the one before."""


@dataclass
class Month:
    """A corpus that changes, its cluster's clock, and what was told of its builds."""

    folder: Path
    text: float
    files: int
    chunks: int
    seed: str = "month"
    now: float = 0.0
    spent: Spent = field(default_factory=Spent)
    builds: list[dict[str, Any]] = field(default_factory=list)

    def begin(self) -> None:
        """Writes the raw files and the configuration of the first day."""
        for number in range(self.files):
            self._write(number, "first")
        self.config({})

    def config(self, changes: Mapping[str, Any], root: str = "corpus") -> None:
        """Writes corpus.yaml with these changes."""
        config: dict[str, Any] = {
            "name": "month",
            "sources": [{"name": name, "location": f"raw/{name}"} for name in SOURCES],
            "storage": {"root": root, "sync": False},
            "mix": {"chunks": self.chunks},
            "dedup": {"ranges": ranges_of(self.text / DOCUMENT_BYTES)},
        }
        for section, values in changes.items():
            config[section] = {**config.get(section, {}), **values}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "corpus.yaml").write_text(yaml.safe_dump(config))

    def change_raw(self, day: int) -> None:
        """Adds, edits and deletes raw files, as the day's number says."""
        chance = np.random.default_rng(int(content_digest(f"{self.seed} {day}".encode()), 16))
        there = sorted(self.folder.glob("raw/*/*"))
        for path in chance.choice(
            np.array(there, object), max(2, round(len(there) * (EDITED + DELETED))), replace=False
        ):
            if chance.random() < DELETED / (EDITED + DELETED):
                path.unlink()
            else:
                path.write_text(f"edited on day {day}")
        first = self.files + day * self.files
        for number in range(first, first + max(1, round(len(there) * ADDED))):
            self._write(number, f"day {day}")

    def _write(self, number: int, words: str) -> None:
        path = self.folder / f"raw/{SOURCES[number % 3]}/s{number:07d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words)

    def build(self, faults: Faults | None, killed_after: float | None = None) -> dict[str, Any]:
        """Runs one build in a process of its own; returns what it told."""
        state = self.folder / "state.json"
        given = {"text": self.text, "cores": CORES, "seed": f"{self.seed} {len(self.builds)}", "now": self.now}
        given |= {"faults": asdict(faults) if faults else None, "killed_after": killed_after}
        state.write_text(json.dumps(given))
        command = [sys.executable, "-m", "benchmarks.month_build", str(self.folder), str(state)]
        subprocess.run(command, check=True)
        told: dict[str, Any] = json.loads(state.read_text())
        self.now = told["now"]
        self.spent.add(told["spent"])
        self.builds.append(told)
        return told

    def day(self, day: int, faults: Faults) -> None:
        """Builds until all is fresh; the driver may be lost during the first build."""
        self.now = max(self.now, day * DAY)
        chance = np.random.default_rng(int(content_digest(f"{self.seed} killed {day}".encode()), 16))
        killed_after = chance.uniform(0, HOUR) if chance.random() < KILLED else None
        for _ in range(MOST_BUILDS):
            if self.build(faults, killed_after)["ok"]:
                return
            killed_after = None
        raise SystemExit(f"day {day}: {MOST_BUILDS} builds left something that is not fresh: {self.builds[-1]}")


def digests(folder: Path) -> Iterator[tuple[str, str]]:
    """Every partition of a corpus, and its content digest. Raises `SystemExit` if one is not fresh."""
    corpus = Corpus.open(folder / "corpus.yaml")
    plan = corpus.planner().plan()
    for decision in plan.decisions:
        if decision.status.value != "fresh":
            raise SystemExit(f"{decision.asset}/{decision.partition} is {decision.status}: {decision.reason}")
        record = corpus.ledger.read(decision.asset, decision.partition)
        assert record is not None
        yield f"{decision.asset}/{decision.partition}", record.digest


def measure(text: float, files: int, chunks: int, days: int) -> dict[str, Any]:
    """The figures of a month."""
    with tempfile.TemporaryDirectory() as place:
        month = Month(Path(place, "corpus"), text, files, chunks)
        month.begin()
        month.day(0, Faults())
        first = month.now
        changes: dict[str, Any] = {}
        for day in range(1, days + 1):
            if day % 7 == 0:
                changes |= WEEKLY[(day // 7 - 1) % len(WEEKLY)]
                month.config(changes)
            month.change_raw(day)
            month.day(day, Faults())
        found = dict(digests(month.folder))
        month.config(changes, root="again")
        again = Month(month.folder, text, files, chunks)
        again.build(None)
        expected = dict(digests(month.folder))
        shutil.rmtree(month.folder)
    return {
        "partitions": len(found),
        "differ": len(found.items() ^ expected.items()),
        "builds": len(month.builds),
        "drivers_lost": sum(build["killed"] for build in month.builds),
        "machines_lost": month.spent.machines_lost,
        "refused_requests": month.spent.refused,
        "failed_partitions": month.spent.failed,
        "computed_partitions": month.spent.partitions,
        "first_build_hours": round(first / HOUR, 2),
        "core_hours": round((month.spent.once + month.spent.lost + month.spent.again) / HOUR),
        "twice_percent": round(100 * month.spent.share_twice, 3),
        "lost_core_hours": round(month.spent.lost / HOUR, 2),
        "again_core_hours": round(month.spent.again / HOUR, 2),
        "plan_s": max(build["plan_s"] for build in month.builds),
        "driver_cpu_s": round(sum(build["cpu_s"] for build in month.builds)),
        "driver_mb": max(build["peak_mb"] for build in month.builds),
    }


def million(partitions: int) -> dict[str, Any]:
    """What a plan of so many fresh partitions takes: the first look at all records, and a second with snapshots."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "corpus")
        folder.mkdir()
        corpus = write_synthetic(folder, partitions // SHARD_STAGES + 1)
        shutil.rmtree(Path(corpus.storage.fetch(SNAPSHOTS)))
        looks = [_plan(folder), _plan(folder)]
    assert not any(look["due"] for look in looks), "the synthetic corpus is not fresh"
    return {
        "million_partitions": looks[0]["partitions"],
        "million_first_plan_s": looks[0]["plan_s"],
        "million_plan_s": looks[1]["plan_s"],
        "million_plan_mb": max(look["peak_mb"] for look in looks),
    }


def _plan(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.month_build", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def figures(quick: bool) -> dict[str, Any]:
    """The month of 10 TB, a week of 100 TB, and the plan of a million partitions; or two days of a small corpus."""
    if quick:
        return measure(size("40GB"), 40, 10, 2) | million(1_000)
    week = measure(size("100TB"), 2_000, 1_000, 7)
    return (
        measure(size("10TB"), 1_000, 500, DAYS)
        | {f"100tb_{name}": value for name, value in week.items()}
        | million(1_000_000)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", default="10TB", help="bytes of text, such as 10TB")
    parser.add_argument("--files", type=int, default=1_000, help="raw files of the first day")
    parser.add_argument("--chunks", type=int, default=500, help="chunks of the mix")
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--quick", action="store_true", help="two days of a small corpus")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    found = figures(True) if given.quick else measure(size(given.text), given.files, given.chunks, given.days)
    print(json.dumps(found) if given.json else "\n".join(f"{name:24}{value:>14}" for name, value in found.items()))


if __name__ == "__main__":
    main()
