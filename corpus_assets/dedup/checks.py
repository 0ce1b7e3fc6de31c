"""No source loses more than it may: the blocking check between clusters and what is made of them."""

from inspect import getdoc
from typing import Any

import dagster as dg

from corpus_assets.checking import UNREADABLE, Built, asset_key, current_partitions, result
from corpus_assets.dedup.assets import retention
from corpus_assets.dedup.clusters.worst import render, sampled
from resources.stage.partition import Partition

RETENTION = "retention_of_sources"


def retention_of_sources(corpus: Built) -> dg.AssetChecksDefinition:
    """No source loses a larger share of its documents to deduplication than `dedup.max_loss` allows.

    While one does, nothing is made of the clusters: look at the worst of them, below, then change the configuration
    or raise the limit.
    """

    @dg.asset_check(
        asset=asset_key("components"),
        name=RETENTION,
        description=getdoc(retention_of_sources),
        blocking=True,
    )
    def check() -> dg.AssetCheckResult:
        found = current_partitions(corpus, "components")
        faults: list[str] = []
        notes: dict[str, dg.MetadataValue] = {}
        for clusters in found:
            faults += retention(clusters.record.numbers, corpus.settings.values)
            notes["worst clusters"] = dg.MetadataValue.md(_worst(corpus, clusters, with_texts=bool(faults)))
        return result(faults, {"sources": len(corpus.settings.sources())}, notes)

    return check


def _worst(corpus: Built, components: Partition, *, with_texts: bool) -> str:
    """The worst clusters; texts are looked up only when they are needed, since that reads whole shards."""
    try:
        report = components.json("report.json")
        texts = _texts(corpus, sampled(report)) if with_texts else {}
    except UNREADABLE as error:
        return f"the report cannot be read: {error}"
    return render(report, texts)


def _texts(corpus: Built, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Texts by shard and row."""
    rows: dict[str | None, set[int]] = {}
    for shard, row in wanted:
        rows.setdefault(shard, set()).add(row)
    found: dict[tuple[str, int], str] = {}
    for documents in current_partitions(corpus, "normalized_documents"):
        ours = rows.get(documents.key)
        if ours:
            found |= {(documents.key or "", row): text for row, text in _some_texts(documents, ours)}
    return found


def _some_texts(shard: Partition, rows: set[int]) -> Any:
    last = max(rows)
    for row, document in enumerate(shard.documents()):
        if row in rows:
            yield row, document.text
        if row == last:
            return
