"""Wall time on a cluster, simulated: `python -m benchmarks.cluster [--cores 64 512 4096] [--text 1TB 10TB 100TB]`.

From raw text to decontaminated train, with the default configuration. Partitions are scheduled on the cores in the
order of the real graph: partitions of the same key go from stage to stage, and a stage that reads all partitions of
another waits for them. On one machine nothing else starts while a partition of the whole corpus runs. Costs of
partitions are measured: `benchmarks.stages` gives them per MB of text. For near-duplicates the larger of that and the
cost per document from `benchmarks.scale` counts, on the curve through its smallest and largest run. `benchmarks.driver`
gives the cost of the driver. A partition moves its share of the files that stages read and write, over the bandwidth of
its machine, which busy cores share. `--publish` writes the tables into docs/scale.md.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.cluster_costs import Costs
from benchmarks.list_schedule import Group, Schedule, schedule
from benchmarks.scale_page import TARGET, table
from benchmarks.stages import LAST_OF_PIPELINE
from benchmarks.synthetic import write_synthetic
from corpus_assets.config.selection.dedup import DEFAULT_RANGES, MAX_RANGES
from corpus_assets.config.selection.mixing import MOST_CHUNKS
from resources.stage.declaration import Partitioning, Reads, Stage
from resources.stage.graph import Graph

CORES, TEXT = (64, 512, 4096), ("1TB", "10TB", "100TB")
MOST_SHARDS = 10_000
"""Raw files of a corpus: the most that `benchmarks.plan` measures."""

DOCUMENT_BYTES = 5_530
"""Bytes of text of a document: RedPajama's 5.15 TB are 931 million documents."""

BEGIN, END = "<!-- cluster -->\n", "<!-- end of cluster -->"
_TOLD = (
    "What near-duplicates cost there in CPU time, `by text` of real files or `by documents` without text, "
    "whichever is more."
)
_UNITS = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
DOCUMENTS_OF_RANGE = 100_000_000
"""Documents for which docs/clusters.md advises a range, where that gives more than the default."""

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

_ID_BYTES = 36
_MEMBER_BYTES = 43 + 15 + 8 + 12
"""Per document: members, of which there are three for ten documents, and their ids; pairs; hashes of ids."""

_MOVED_PER_DOCUMENT = {
    "minhashes": 640,
    "band_keys": 512 + 160 + 2 * 36,
    "exact_duplicates": 36,
    "duplicate_pairs": 160 + 48,
    "candidate_pairs": 48 + 128 + 115,
    "verified_pairs": 115 + 128 + 5,
    "cluster_roots": 6 + 4,
    "cluster_members": 4 + 6 + 128 + 52 + _ID_BYTES + _MEMBER_BYTES,
    "guarded_clusters": _MEMBER_BYTES + 6,
    "components": 6 + 15 + 1 + 7,
}
"""Bytes of keys, sketches, digests, pairs, ids and tables of texts that are read and written per document."""


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
    """The corpus: bytes of text, cut into shards and chunks of so many bytes, bands and ranges.

    Shards are larger if there would be more than plans were measured with, and chunks if there would be more than a
    configuration allows.
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
    known = {*costs.per_mb, *costs.stages_with_runs()}
    wanted = {stage.name for stage in graph.select([f"+{LAST_OF_PIPELINE}"])}
    return [stage for stage in graph if stage.name in wanted & known]


def groups_of(
    stages: Sequence[Stage], seconds: Mapping[str, float], corpus: Corpus, *, whole_alone: bool = True
) -> list[Group]:
    """The stages as groups of partitions: those that read each other's partition of the same key are one group.

    seconds: of one partition of each stage. whole_alone: see `Engine`. A group is named after its most expensive stage.
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
    seconds = {stage.name: seconds_of(stage, costs, corpus, cluster) for stage in stages}
    groups = groups_of(stages, seconds, corpus, whole_alone=cluster.cores <= cluster.machine)
    return schedule(groups, cluster.cores, costs.dispatch)


def seconds_of(stage: Stage, costs: Costs, corpus: Corpus, cluster: Cluster) -> float:
    """Seconds of one partition of a stage: to compute it, and to move what it reads and writes."""
    count = corpus.partitions[stage.partitioning]
    work = costs.seconds(stage.name, corpus.documents, corpus.text / 1e6) / count
    return work + cluster.seconds_to_move(moved_by(stage, corpus), count)


def moved_by(stage: Stage, corpus: Corpus) -> float:
    """Bytes that one partition of a stage reads from the store and writes to it."""
    moved = _MOVED_PER_TEXT.get(stage.name, 0.0) * corpus.text
    moved += _MOVED_PER_DOCUMENT.get(stage.name, 0) * corpus.documents
    return moved / corpus.partitions[stage.partitioning]


def figures(given: argparse.Namespace, costs: Costs) -> list[dict[str, Any]]:
    """Wall time and what limits it, for every size of corpus and cluster."""
    with tempfile.TemporaryDirectory() as folder:
        opened = write_synthetic(Path(folder), 1)
        stages, bands = measured_stages(opened.graph, costs), len(opened.settings.bands())
    found = []
    for text in given.text:
        ranges = given.ranges or ranges_of(size(text) / DOCUMENT_BYTES)
        corpus = Corpus(size(text), DOCUMENT_BYTES, size(given.shard), bands, ranges)
        for cores in given.cores:
            made = simulate(stages, costs, corpus, Cluster(cores, given.machine, size(given.bandwidth)))
            found.append({"text": text, "cores": cores, "seconds": round(made.seconds, 1), "limit": made.limit})
            found[-1]["held_up"] = {name: round(value, 1) for name, value in made.held_up.items()}
    return found


def ranges_of(documents: float) -> int:
    """`dedup.ranges` of a corpus that follows docs/clusters.md."""
    return min(max(math.ceil(documents / DOCUMENTS_OF_RANGE), DEFAULT_RANGES), MAX_RANGES)


def size(text: str) -> float:
    """Bytes of "10TB" or a plain number."""
    for unit, factor in _UNITS.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    return float(text)


def page(found: Sequence[Mapping[str, Any]], costs: Costs) -> str:
    """The tables of docs/scale.md: wall times and what limits them, and what near-duplicates cost there."""
    texts = list(dict.fromkeys(one["text"] for one in found))
    return f"{wall_times(found)}\n\n{_TOLD}\n\n{told(costs, texts)}"


def wall_times(found: Sequence[Mapping[str, Any]]) -> str:
    """One row per corpus and cluster."""
    head = ("text", "cores", "hours", "limited by", "its share", "next", "its share")
    rows = []
    for one in found:
        limits = sorted(one["held_up"].items(), key=lambda item: -item[1])[:2]
        shares = [cell for name, value in limits for cell in (f"`{name}`", f"{value / one['seconds']:.0%}")]
        rows.append((one["text"], f"{one['cores']:,}", f"{one['seconds'] / 3600:,.2f}", *shares))
    return table(head, rows)


def told(costs: Costs, texts: Sequence[str]) -> str:
    """One row per stage of near-duplicates: its CPU-hours, and whether text or documents say that."""
    head = ("stage", "documents of its runs", *(f"{text}, CPU-hours" for text in texts))
    rows = []
    for stage in costs.stages_with_runs():
        runs = costs.runs_of(stage)
        measured = f"{runs[0]['documents']:,} to {runs[-1]['documents']:,}"
        rows.append((f"`{stage}`", measured, *(_told(costs, stage, size(text)) for text in texts)))
    return table(head, rows)


def _told(costs: Costs, stage: str, text: float) -> str:
    by_text, by_documents = costs.by_text(stage, text / 1e6), costs.by_documents(stage, text / DOCUMENT_BYTES)
    return f"{max(by_text, by_documents) / 3600:,.2f} by {'text' if by_text > by_documents else 'documents'}"


def publish(tables: str) -> None:
    """Put the tables into docs/scale.md."""
    before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    TARGET.write_text(f"{before}{BEGIN}\n{tables}\n\n{END}{after}", encoding="utf-8")


def publish_defaults() -> None:
    """Put the results of the published figures with default options into docs/scale.md."""
    costs = Costs.published()
    publish(page(figures(arguments([]), costs), costs))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says, or these words instead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", default=CORES)
    parser.add_argument("--text", nargs="+", default=TEXT, help="bytes of text, such as 10TB")
    parser.add_argument("--shard", default="1GB", help="bytes of text of a raw file, and of a chunk of the mix")
    parser.add_argument("--ranges", type=int, help="dedup.ranges (default: as docs/clusters.md advises)")
    parser.add_argument("--machine", type=int, default=64, help="cores of a machine")
    parser.add_argument("--bandwidth", default="2.5GB", help="bytes per second between a machine and the store")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--publish", action="store_true", help="write the tables into docs/scale.md")
    return parser.parse_args(given)


def main() -> None:
    given, costs = arguments(), Costs.published()
    found = figures(given, costs)
    tables = page(found, costs)
    if given.publish:
        publish(tables)
    print(json.dumps(found) if given.json else tables)


if __name__ == "__main__":
    main()
