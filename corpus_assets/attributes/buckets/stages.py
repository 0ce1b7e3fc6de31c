"""The stages of an entry of `attributes` with buckets of a score."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

from typing_extensions import override

from corpus_assets.attributes.assets import ATTRIBUTE_COLUMNS, asset_name
from corpus_assets.attributes.tagging import key_part
from resources.documents.attribute_rows import AttributeFile, best_label
from resources.documents.quantiles import SCORE, counted, quantiles
from resources.documents.score_histograms import ScoreHistograms
from resources.formats.attributes import Span
from resources.formats.row_tables import identifiers
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

BUCKET: Final = "bucket"
"""What the label is named: `<entry>.bucket`."""

UNLABELLED: Final = ""
"""Where the borders of documents without a label are."""

_SCORES, _LABELS, _BORDERS = ".scores.npy", ".labels.json", "borders.json"


@dataclass(frozen=True)
class Read:
    """What is read of documents. asset, key: of the score. labels: of the label, None if there is none."""

    asset: str
    key: str
    labels: tuple[str, str] | None = None

    @property
    def assets(self) -> list[str]:
        """The assets with the attributes, each once."""
        return list(dict.fromkeys([self.asset, *([self.labels[0]] if self.labels else [])]))


@dataclass
class _Named:
    """The identity of a document."""

    id: str
    source: str


@dataclass(frozen=True)
class Scored:
    """A document with its label, the score, and the spans of the score; None and no spans without one."""

    document: _Named
    label: str
    score: float | None
    spans: Sequence[Span]


def _scored(task: Task, read: Read) -> Iterator[Scored]:
    documents = task.input("normalized_documents")
    texts = documents.array(".texts.npy")
    files = {asset: AttributeFile(task.input(asset), len(texts)) for asset in read.assets}
    for identifier in identifiers(texts["id_end"], documents.array(".ids.npy")):
        found = {asset: file.take(identifier) for asset, file in files.items()}
        spans = found[read.asset].get(read.key, [])
        label = best_label(found[read.labels[0]], read.labels[1]) if read.labels else None
        yield Scored(_Named(identifier, task.shard.source), label or UNLABELLED, _mean(spans), spans)
    for file in files.values():
        file.finish()


def _mean(spans: Sequence[Span]) -> float | None:
    """Returns the mean score of spans, weighed by their length."""
    length = sum(end - start for start, end, _ in spans)
    if not spans or len(spans) == 1 or not length:
        return float(spans[0][2]) if spans else None
    return sum((end - start) * score for start, end, score in spans) / length


def scores(task: Task, name: str, read: Read) -> None:
    """Writes the scores of a shard by label, in ascending order with counts."""
    held: dict[str, list[float]] = {}
    rows = 0
    for scored in _scored(task, read):
        rows += 1
        if scored.score is not None:
            held.setdefault(scored.label, []).append(scored.score)
    path = f"attributes/{name}/scores/{task.shard.source}/{task.shard.name}"
    ends: dict[str, int] = {}
    end = 0
    with task.array(f"{path}{_SCORES}", SCORE) as out:
        for label, found in sorted(held.items()):
            table = counted(found)
            out.append(table)
            end += len(table)
            ends[label] = end
    task.save_json(f"{path}{_LABELS}", ends, rows=len(ends))
    task.count(rows_in=rows, rows_out=sum(map(len, held.values())))


def borders(task: Task, name: str, scores_asset: str, key: str) -> None:
    """Writes the scores up to which the wanted shares of the documents of each label lie."""
    shards = task.inputs(scores_asset)
    shares = [Fraction(str(percent)) / 100 for percent in task[f"{key}.percentiles"]]
    places: dict[str, list[tuple[Partition, int, int]]] = {}
    for shard in shards:
        start = 0
        for label, end in shard.json(_LABELS).items():
            places.setdefault(label, []).append((shard, start, end))
            start = end

    def of(label: str) -> list[float]:
        return quantiles(lambda: (one.array_rows(_SCORES, start, end) for one, start, end in places[label]), shares)

    found = {label: of(label) for label in sorted(places)}
    task.save_json(f"attributes/{name}/{_BORDERS}", found, rows=len(found))
    task.count(rows_in=sum(shard.record.statistics["rows_out"] for shard in shards), rows_out=len(found))


def buckets(task: Task, name: str, read: Read, borders_asset: str, key: str) -> None:
    """Writes the bucket of each document that has the score, with the score."""
    stored: Mapping[str, Sequence[float]] = task.input(borders_asset).json(_BORDERS)
    keys = [f"{key_part(name)}__{BUCKET}__{bucket}" for bucket in task[f"{key}.buckets"]]
    documents, histograms = Counter[str](), ScoreHistograms()
    with task.attributes(name) as out:
        for scored in _scored(task, read):
            found: dict[str, list[Span]] = {}
            if scored.score is not None:
                # A score that is a border is the last of the lower bucket.
                place = bisect_left(stored[scored.label], scored.score)
                found = {keys[place]: [(scored.spans[0][0], scored.spans[-1][1], round(scored.score, 5))]}
                documents[task[f"{key}.buckets"][place]] += 1
            out.add(scored.document, found)
            histograms.add(found)
    without = out.rows - documents.total()
    task.count(histograms=histograms.histograms(), rows_in=out.rows, rows_out=out.rows, spans=histograms.spans)
    task.count(documents_by_bucket=dict(documents))
    if without:
        task.count(documents_without_score=without)


@dataclass(frozen=True)
class BucketsHooks(Hooks):
    """The hooks of the stages. keys: of the entry that a stage depends on."""

    name: str
    keys: tuple[str, ...]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        (entry,) = (entry for entry in settings["attributes"] if entry["name"] == self.name)
        return {f"attributes.{self.name}.{key}": entry[key] for key in self.keys}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields a sentence on documents without the score."""
        statistics = [partition.record.statistics for partition in partitions]
        if without := sum(found.get("documents_without_score", 0) for found in statistics):
            documents = sum(found["rows_out"] for found in statistics)
            (entry,) = (entry for entry in settings["attributes"] if entry["name"] == self.name)
            yield (
                f"attributes.{self.name}: {without:,} of {documents:,} documents have no {entry['score']}, and are in "
                "no bucket"
            )


def bucket_stages(entries: Iterable[Mapping[str, Any]], reading: Mapping[str, Read]) -> Iterator[Stage]:
    """Yields the three stages of each entry that has a `score`. reading: what each of them reads, by name."""
    for entry in (entry for entry in entries if "score" in entry):
        name, read = entry["name"], reading[entry["name"]]
        key = f"attributes.{name}"
        scores_asset, borders_asset = f"{name}_scores", f"{name}_borders"
        attributes = tuple(map(same, read.assets))
        yield Stage(
            name=scores_asset,
            group="attributes",
            unit_in="documents",
            unit_out="documents",
            description=f"The scores of a shard's documents, with counts, for the borders of the buckets {name}.",
            partitioning=Partitioning.SHARD,
            compute=partial(scores, name=name, read=read),
            code_version="1",
            io="arrays",
            inputs=(same("normalized_documents"), *attributes),
            hooks=BucketsHooks(name, ("score", "by")),
            columns={"score": "float64: a score", "count": "uint64: how many documents have it"},
            kinds=("numpy",),
        )
        yield Stage(
            name=borders_asset,
            group="attributes",
            unit_in="documents",
            unit_out="labels",
            description=f"Scores up to which wanted shares of the documents lie, exactly, for the buckets {name}.",
            partitioning=Partitioning.NONE,
            compute=partial(borders, name=name, scores_asset=scores_asset, key=key),
            code_version="1",
            io="records",
            inputs=(every(scores_asset, folded=True),),
            hooks=BucketsHooks(name, ("percentiles",)),
            kinds=("json",),
        )
        yield Stage(
            name=asset_name(name),
            group="attributes",
            unit_in="documents",
            unit_out="documents",
            description=f"The bucket of every document by {entry['score']}.",
            partitioning=Partitioning.SHARD,
            compute=partial(buckets, name=name, read=read, borders_asset=borders_asset, key=key),
            code_version="1",
            io="documents",
            inputs=(same("normalized_documents"), *attributes, same(borders_asset)),
            hooks=BucketsHooks(name, ("score", "by", "buckets")),
            columns=ATTRIBUTE_COLUMNS,
            kinds=("jsonl", "dolma"),
        )
