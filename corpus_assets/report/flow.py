"""From raw rows to training documents, step by step; and the splits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from corpus_assets import dataset_names
from corpus_assets.report.model import BySource, Loss, Source, Split, Step
from corpus_assets.report.records import Built, by_source, dropped, examples, some, source_of, total
from resources.stage.partition import Partition

READ, FILTERED, MIXED = "normalized_documents", "filtered_documents", "mixed_pass1"
TRAIN, CLEAN_TRAIN = "train", "decontaminated_train"
SPLITS = (CLEAN_TRAIN, "validation", "test", "train", "holdout")
_STEPS = {READ: "read", FILTERED: "filtered", TRAIN: "without holdout", CLEAN_TRAIN: "train"}
_EXAMPLES, _CHARACTERS = 8, 240
_MOST_LICENCES = 100


def sources(built: Built, configuration: Mapping[str, Any]) -> list[Source]:
    """Returns the sources of the corpus, and the files of datasets of their own."""
    licences = _licences(built.get(MIXED, ()))
    found = [
        _source(
            entry["name"],
            entry,
            built.get("raw_source", ()),
            epochs=float(entry["epochs"]),
            licences=licences.get(entry["name"]),
        )
        for entry in configuration["sources"]
    ]
    for entry in configuration["datasets"]:
        if isinstance(entry["input"], Mapping):
            files = built.get(dataset_names.raw_source(entry["name"]), ())
            found.append(_source(entry["name"], entry["input"], files, dataset=entry["name"]))
    return found


def _source(name: str, entry: Mapping[str, Any], files: Sequence[Partition], **more: Any) -> Source:
    ours = [partition.record.statistics for partition in files if source_of(partition) == name]
    return Source(
        name=name,
        licence=entry.get("licence"),
        location=str(entry["location"]),
        files=len(ours),
        listed=sum(numbers.get("files", 1) - 1 for numbers in ours),
        raw_bytes=sum(numbers.get("bytes", 0) for numbers in ours),
        **more,
    )


def _licences(partitions: Sequence[Partition]) -> dict[str, dict[str, dict[str, int]]]:
    """Returns documents and bytes of each source by the licence that documents state; the commonest of each source.

    Sources whose documents state none are absent.
    """
    found: dict[str, dict[str, Counter[str]]] = {}
    for partition in partitions:
        for licence, numbers in partition.record.statistics.get("licences", {}).items():
            found.setdefault(source_of(partition) or "", {}).setdefault(licence, Counter()).update(numbers)
    return {source: _commonest(of_source) for source, of_source in found.items()}


def _commonest(licences: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    ordered = sorted(licences.items(), key=lambda one: (-one[1]["text_bytes"], one[0]))
    kept = {licence: dict(numbers) for licence, numbers in ordered[:_MOST_LICENCES]}
    if others := ordered[_MOST_LICENCES:]:
        rest = sum((numbers for _, numbers in others), Counter[str]())
        kept[f"{len(others):,} others"] = dict(rest)
    return kept


def steps(built: Built) -> list[Step]:
    """Returns the steps that the corpus has, in order; none if it has no sources."""
    found: list[Step] = []
    for asset in (READ, FILTERED, MIXED, TRAIN, CLEAN_TRAIN):
        partitions = built.get(asset, ())
        if not partitions:
            continue
        if asset == READ:
            found.append(_raw_rows(partitions))
        found += _mixed(partitions) if asset == MIXED else [_step(_STEPS[asset], asset, partitions)]
    return found


def _step(name: str, asset: str, partitions: Sequence[Partition]) -> Step:
    records = [partition.record for partition in partitions]
    return Step(
        name=name,
        asset=asset,
        documents=total(records, "rows_out"),
        text_bytes=total(records, "text_bytes"),
        by_source=by_source(partitions),
        losses=[Loss(reason, count, sources) for reason, (count, sources) in dropped(partitions).items()],
        examples=[text[:_CHARACTERS] for text in some(examples(partitions), asset, _EXAMPLES)],
    )


def _raw_rows(partitions: Sequence[Partition]) -> Step:
    rows: Counter[str] = Counter()
    for partition in partitions:
        rows[source_of(partition) or ""] += partition.record.statistics.get("rows_in", 0)
    counted: BySource = {source: {"documents": count} for source, count in rows.items()}
    return Step("raw rows", "raw_source", rows.total(), None, counted)


def _mixed(partitions: Sequence[Partition]) -> list[Step]:
    """Returns two steps of pass 1: documents that stay, each once; and as often as `epochs` says.

    Bytes are known with repeats only.
    """
    used = _step("with repeats", MIXED, partitions)
    kept: Counter[str] = Counter()
    for partition in partitions:
        kept[source_of(partition) or ""] += partition.record.statistics.get("documents", 0)
    once: BySource = {source: {"documents": count} for source, count in kept.items()}
    first = Step("kept", MIXED, kept.total(), None, once, used.losses, used.examples)
    used.losses, used.examples = [], []
    used.gained = used.documents - first.documents
    return [first, used]


def splits(built: Built) -> list[Split]:
    """Returns the splits that the corpus has."""
    found = []
    for name in SPLITS:
        if partitions := built.get(name, ()):
            records = [partition.record for partition in partitions]
            documents, text_bytes = total(records, "rows_out"), total(records, "text_bytes")
            found.append(Split(name, documents, text_bytes, by_source(partitions)))
    return found
