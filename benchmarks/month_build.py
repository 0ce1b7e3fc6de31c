"""One build of a simulated month, in a process of its own: `python -m benchmarks.month_build FOLDER [STATE]`.

STATE is a JSON file: the cluster, its clock and its faults; the process replaces it with the clock and the costs after
the build. If the machine of the driver is lost, the process ends at once, as a killed one does. Without a state the
process makes only a plan, and prints what that took.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from typing_extensions import override

from benchmarks.cluster import DOCUMENT_BYTES, moved_by, seconds_of
from benchmarks.cluster import Cluster as Machines
from benchmarks.cluster import Corpus as Sizes
from benchmarks.cluster_costs import Costs
from benchmarks.month_cluster import Cluster, DriverLostError, Faults, SimulatedEngine, segments_of
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress
from resources.planning.planner import Status
from resources.processes.collector import calm_collector
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome

CORES, BANDWIDTH = 64, 2.5e9
"""Of a machine: cores, and bytes per second to and from the store."""


@dataclass(frozen=True)
class Counted(Sizes):
    """A corpus with the numbers of partitions that its configuration and its raw files give."""

    counts: Mapping[Partitioning, int] = field(default_factory=dict)

    @cached_property
    @override
    def partitions(self) -> dict[Partitioning, int]:
        return {**dict.fromkeys(Partitioning, 1), **self.counts}


def sizes_of(corpus: Corpus, text: float) -> Counted:
    """The sizes of a corpus of so many bytes of text."""
    planner, settings = corpus.planner(), corpus.settings
    counts = {stage.partitioning: len(planner.partitions(stage)) for stage in corpus.graph}
    shard = text / counts[Partitioning.SHARD]
    return Counted(text, DOCUMENT_BYTES, shard, len(settings.bands()), len(settings.ranges()), counts)


def cluster_of(corpus: Corpus, state: Mapping[str, Any]) -> Cluster:
    """The cluster of a state, which computes the stages of a corpus at their published costs."""
    costs, sizes = Costs.published(), sizes_of(corpus, state["text"])
    machines = Machines(state["cores"], CORES, BANDWIDTH)
    return Cluster(
        machines=state["cores"] // CORES,
        cores=CORES,
        seconds={stage.name: seconds_of(stage, costs, sizes, machines) for stage in corpus.graph},
        moved={stage.name: moved_by(stage, sizes) for stage in corpus.graph},
        segments=segments_of(corpus.settings, corpus.graph),
        dispatch=costs.dispatch,
        faults=Faults(**state["faults"]) if state["faults"] is not None else Faults.none(),
        seed=state["seed"],
        now=state["now"],
        killed_at=state["now"] + state["killed_after"] if state["killed_after"] is not None else float("inf"),
    )


def run(folder: Path, state_file: Path) -> None:
    """Runs one build, and leaves what it told in the state."""
    state = json.loads(state_file.read_text())
    recipes = state_file.with_suffix(".recipes")
    calm_collector()
    started = time.process_time()
    corpus = Corpus.open(folder / "corpus.yaml")
    cluster = cluster_of(corpus, state)
    if recipes.exists():
        known = recipes.read_bytes()
        cluster.known = {known[at : at + 8] for at in range(0, len(known), 8)}
    corpus.__dict__["engine"] = SimulatedEngine(cluster)
    told: dict[str, Any] = {**planned(corpus), "killed": False, "failed": [], "ok": False}
    try:
        report = build(corpus, list(corpus.graph), _Silent(), checks=False)
        told |= {"failed": list(report.failed), "ok": report.ok, "recomputed": report.recomputed}
    except DriverLostError:
        told["killed"] = True
    finally:
        told |= cluster.told() | {"cpu_s": round(time.process_time() - started, 2)}
        told["peak_mb"] = peak_mb()
        recipes.write_bytes(b"".join(sorted(cluster.known)))
        state_file.write_text(json.dumps(told))
    if told["killed"]:
        os._exit(0)


def planned(corpus: Corpus) -> dict[str, Any]:
    """Seconds of a plan, how many partitions it has, and how many of them are not fresh."""
    started = time.perf_counter()
    decisions = corpus.planner().plan().decisions
    due = sum(decision.status is not Status.FRESH for decision in decisions)
    return {"plan_s": round(time.perf_counter() - started, 2), "partitions": len(decisions), "due": due}


class _Silent(Progress):
    def stage(self, stage: Stage, due: int) -> None:
        """Says nothing."""

    def outcome(self, outcome: Outcome) -> None:
        """Says nothing."""


def main() -> None:
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        run(folder, Path(sys.argv[2]))
        return
    print(json.dumps({**planned(Corpus.open(folder / "corpus.yaml")), "peak_mb": peak_mb()}))


def peak_mb() -> int:
    """The most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
