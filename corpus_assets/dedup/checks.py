"""The blocking check between the clusters and the stages that read them: no source loses too much."""

from inspect import getdoc
from itertools import islice

import dagster as dg

from corpus_assets.checking import Built, asset_key, current_partitions, mixed_documents, result
from corpus_assets.dedup.clusters.worst import render, sampled
from corpus_assets.dedup.hooks import retention
from corpus_assets.faults import UNREADABLE
from resources.stage.partition import Partition

RETENTION = "retention_of_sources"


def retention_of_sources(corpus: Built) -> dg.AssetChecksDefinition:
    """No source loses a larger share of its documents to deduplication than `dedup.max_loss` allows.

    While one does, the clusters are not used: look at the worst ones below, then change the configuration or raise the
    limit.
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
    """Returns the worst clusters as Markdown; reads texts only on request, since that reads whole shards."""
    try:
        report = components.json("report.json")
        texts = _texts(corpus, sampled(report)) if with_texts else {}
    except UNREADABLE as error:
        return f"the report cannot be read: {error}"
    return render(report, texts)


def _texts(corpus: Built, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Returns the wanted texts by shard and row."""
    rows: dict[str | None, set[int]] = {}
    for shard, row in wanted:
        rows.setdefault(shard, set()).add(row)
    found: dict[tuple[str, int], str] = {}
    for documents in current_partitions(corpus, mixed_documents(corpus)):
        if ours := rows.get(documents.key):
            some = enumerate(islice(documents.documents(), max(ours) + 1))
            found |= {(documents.key or "", row): document.text for row, document in some if row in ours}
    return found
