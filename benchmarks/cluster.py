"""Wall time on a cluster, simulated: `python -m benchmarks.cluster [--cores 64 512 4096] [--text 1TB 10TB 100TB]`.

From raw text to decontaminated train, with the default configuration. Partitions are scheduled on the cores in the
order of the real graph: those of the same key go from stage to stage, and a stage that reads all partitions of
another waits for them; on one machine nothing else starts while a partition of the whole corpus runs. What a
partition costs is measured: near-duplicates by `benchmarks.scale`, on the curve through its smallest and its largest
run; other stages by `benchmarks.stages`, per MB of text; the driver by `benchmarks.driver`. What it moves to and from
the store is its share of the files that the stages read and write, over the bandwidth of its machine, shared by the
cores that are busy there. `--publish` writes the table into docs/scale.md.
"""

import argparse
import json
import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.list_schedule import Group, Schedule, schedule
from benchmarks.scale_page import FIGURES, TARGET, table
from benchmarks.stages import LAST_OF_PIPELINE
from benchmarks.synthetic import write_synthetic
from corpus_assets.config.dedup import DEFAULT_RANGES
from corpus_assets.config.sections import MOST_CHUNKS
from resources.stage.declaration import Partitioning, Reads, Stage
from resources.stage.graph import Graph

CORES, TEXT = (64, 512, 4096), ("1TB", "10TB", "100TB")
MOST_SHARDS = 10_000
"""Raw files of a corpus: as many as `benchmarks.plan` has at most."""

DOCUMENT_BYTES = 5_530
"""Bytes of text of a document: RedPajama's 5.15 TB are 931 million documents."""

BEGIN, END = "<!-- cluster -->\n", "<!-- end of cluster -->"
_STAGES_PAGE = TARGET.with_name("benchmarks.md")
_UNITS = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
_MEASURABLE = 0.25
"""CPU seconds from which on a run says how a stage grows."""

_GZIP, _ZSTD = 0.27, 0.25
_MOVED_PER_TEXT = {
    "raw_source": _GZIP,
    "normalized_documents": 2 * _GZIP,
    "minhashes": _GZIP,
    "mixed_pass1": _GZIP + _ZSTD,
    "mixed_pass2": _ZSTD + _GZIP,
    "train": 2 * _GZIP,
    "holdout": _GZIP,
    "decontaminated_train": 2 * _GZIP,
}
"""Bytes read and written per byte of text, which is stored in that share of its size."""

_MOVED_PER_DOCUMENT = {
    "minhashes": 640,
    "band_keys": 512 + 160 + 2 * 36,
    "exact_duplicates": 36,
    "duplicate_pairs": 160 + 48,
    "candidate_pairs": 48 + 128 + 115,
    "verified_pairs": 115 + 128 + 5,
    "components": 128 + 6 + 4,
}
"""Bytes of keys, sketches, digests and pairs that are read and written per document."""


@dataclass(frozen=True)
class Costs:
    """Measured costs: ms per MB of text by stage, runs of near-duplicates at several sizes, seconds of the driver."""

    per_mb: Mapping[str, float]
    runs: Sequence[Mapping[str, Any]]
    dispatch: float

    @classmethod
    def published(cls) -> "Costs":
        """Those that are published with this version."""
        page = _STAGES_PAGE.read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\w+) \| ([\d.,]+) \| [\d.,]+ \| [\d.,]+ \| [\d.,]+ \|$", page, re.MULTILINE)
        driver = re.search(r"^\| driver cpu ms per partition \| ([\d.]+) \|$", page, re.MULTILINE)
        if not rows or driver is None:
            raise SystemExit(f"{_STAGES_PAGE.name}: no table of stages, or no figure of the driver")
        per_mb = {name: float(value.replace(",", "")) for name, value in rows}
        return cls(per_mb, json.loads(FIGURES.read_text()), float(driver[1]) / 1000)

    def seconds(self, stage: str, documents: float, text_mb: float) -> float:
        """CPU seconds of all partitions of a stage together."""
        if stage in self.runs[-1]["stages"]:
            return self._extrapolated(stage, documents)
        return self.per_mb.get(stage, 0.0) * text_mb / 1000

    def _extrapolated(self, stage: str, documents: float) -> float:
        """On the curve a * documents ** b through the smallest and the largest run; b is at least 1.

        It is 1 for a stage that took too little in the smallest run for the clock to say more.
        """
        (few, least), (many, most) = (
            (run["documents"], run["stages"][stage]["cpu_s"]) for run in (self.runs[0], self.runs[-1])
        )
        told = many > few and least >= _MEASURABLE
        slope = max(math.log(most / least) / math.log(many / few), 1.0) if told else 1.0
        return float(most * (documents / many) ** slope)


@dataclass(frozen=True)
class Cluster:
    """Cores in machines of `machine` cores, each machine with so many bytes per second to and from the store."""

    cores: int
    machine: int
    bandwidth: float

    def seconds_to_move(self, moved: float, partitions: int) -> float:
        """Seconds for the bytes of one of so many partitions that are computed at the same time, spread evenly."""
        machines = max(self.cores // self.machine, 1)
        at_once = min(-(-partitions // machines), self.machine, self.cores)
        return moved / (self.bandwidth / at_once)


@dataclass(frozen=True)
class Corpus:
    """What is built: bytes of text, cut into shards and chunks of so many bytes, bands and ranges.

    Shards are larger where there would be more than plans were measured with, and chunks where there would be more than
    a configuration may have.
    """

    text: float
    document: int
    shard: float
    bands: int
    ranges: int

    @property
    def documents(self) -> float:
        """Number of documents."""
        return self.text / self.document

    @cached_property
    def partitions(self) -> dict[Partitioning, int]:
        """Number of partitions of each kind."""
        shards = min(max(math.ceil(self.text / self.shard), 1), MOST_SHARDS)
        counts = {Partitioning.SHARD: shards, Partitioning.CHUNK: min(shards, MOST_CHUNKS), Partitioning.NONE: 1}
        return {**counts, Partitioning.BAND: self.bands, Partitioning.RANGE: self.ranges}


def measured_stages(graph: Graph, costs: Costs) -> list[Stage]:
    """The stages from raw text to decontaminated train."""
    known = {*costs.per_mb, *costs.runs[-1]["stages"]}
    wanted = {stage.name for stage in graph.select([f"+{LAST_OF_PIPELINE}"])}
    return [stage for stage in graph if stage.name in wanted & known]


def groups_of(
    stages: Sequence[Stage], seconds: Mapping[str, float], corpus: Corpus, *, whole_alone: bool = True
) -> list[Group]:
    """The stages as groups of partitions: those that read each other's partition of the same key are one group.

    seconds: of one partition of each stage. whole_alone: see `Engine`. A group is named after its dearest stage.
    """
    by_name = {stage.name: stage for stage in stages}
    members: dict[tuple[Partitioning, int], list[Stage]] = {}
    level: dict[str, int] = {}
    for stage in stages:
        read = [(level[edge.asset], _waits(edge.mapping, by_name[edge.asset])) for edge in _edges(stage, level)]
        level[stage.name] = max((found + waits for found, waits in read), default=0)
        members.setdefault((stage.partitioning, level[stage.name]), []).append(stage)
    names = {kind: max((stage.name for stage in group), key=seconds.__getitem__) for kind, group in members.items()}
    group_of = {stage.name: names[kind] for kind, group in members.items() for stage in group}
    found = [
        Group(
            names[kind],
            corpus.partitions[kind[0]],
            sum(seconds[stage.name] for stage in group),
            tuple(dict.fromkeys(name for name in _read(group, level, group_of) if name != names[kind])),
            alone=whole_alone and kind[0] is Partitioning.NONE,
        )
        for kind, group in members.items()
    ]
    return sorted(found, key=lambda group: level[group.name])


def _edges(stage: Stage, known: Mapping[str, int]) -> Iterator[Any]:
    return (edge for edge in stage.inputs if edge.asset in known)


def _read(group: Sequence[Stage], level: Mapping[str, int], group_of: Mapping[str, str]) -> Iterator[str]:
    return (group_of[edge.asset] for stage in group for edge in _edges(stage, level))


def _waits(reads: Reads, upstream: Stage) -> bool:
    """Whether an edge waits for more than the partition of the same key."""
    return reads is not Reads.SAME or upstream.partitioning is Partitioning.NONE


def simulate(stages: Sequence[Stage], costs: Costs, corpus: Corpus, cluster: Cluster) -> Schedule:
    """The wall time of one corpus on one cluster."""
    seconds = {}
    for stage in stages:
        count = corpus.partitions[stage.partitioning]
        moved = _MOVED_PER_TEXT.get(stage.name, 0.0) * corpus.text
        moved += _MOVED_PER_DOCUMENT.get(stage.name, 0) * corpus.documents
        work = costs.seconds(stage.name, corpus.documents, corpus.text / 1e6) / count
        seconds[stage.name] = work + cluster.seconds_to_move(moved / count, count)
    groups = groups_of(stages, seconds, corpus, whole_alone=cluster.cores <= cluster.machine)
    return schedule(groups, cluster.cores, costs.dispatch)


def figures(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Wall time and what limits it, for every size of corpus and cluster."""
    costs = Costs.published()
    with tempfile.TemporaryDirectory() as folder:
        opened = write_synthetic(Path(folder), 1)
        stages, bands = measured_stages(opened.graph, costs), len(opened.settings.bands())
    found = []
    for text in given.text:
        corpus = Corpus(size(text), DOCUMENT_BYTES, size(given.shard), bands, given.ranges)
        for cores in given.cores:
            made = simulate(stages, costs, corpus, Cluster(cores, given.machine, size(given.bandwidth)))
            found.append({"text": text, "cores": cores, "seconds": round(made.seconds, 1), "limit": made.limit})
            found[-1]["held_up"] = {name: round(value, 1) for name, value in made.held_up.items()}
    return found


def size(text: str) -> float:
    """Bytes of "10TB" or a plain number."""
    for unit, factor in _UNITS.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    return float(text)


def page(found: Sequence[Mapping[str, Any]]) -> str:
    """The table of docs/scale.md."""
    head = ("text", "cores", "hours", "limited by", "its share", "next", "its share")
    rows = []
    for one in found:
        limits = sorted(one["held_up"].items(), key=lambda item: -item[1])[:2]
        shares = [cell for name, value in limits for cell in (f"`{name}`", f"{value / one['seconds']:.0%}")]
        rows.append((one["text"], f"{one['cores']:,}", f"{one['seconds'] / 3600:,.2f}", *shares))
    return table(head, rows)


def publish(found: Sequence[Mapping[str, Any]]) -> None:
    """Put the table into docs/scale.md."""
    before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    TARGET.write_text(f"{before}{BEGIN}\n{page(found)}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", default=CORES)
    parser.add_argument("--text", nargs="+", default=TEXT, help="bytes of text, such as 10TB")
    parser.add_argument("--shard", default="1GB", help="bytes of text of a raw file, and of a chunk of the mix")
    parser.add_argument("--ranges", type=int, default=DEFAULT_RANGES, help="dedup.ranges")
    parser.add_argument("--machine", type=int, default=64, help="cores of a machine")
    parser.add_argument("--bandwidth", default="2.5GB", help="bytes per second between a machine and the store")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--publish", action="store_true", help="write the table into docs/scale.md")
    given = parser.parse_args()
    found = figures(given)
    if given.publish:
        publish(found)
    print(json.dumps(found) if given.json else page(found))


if __name__ == "__main__":
    main()
