"""What all asset checks share: the partitions they look at, and how they say what they found."""

from collections.abc import Mapping, Sequence

import dagster as dg

from corpus_assets.corpus import Corpus
from resources.ledger import Record
from resources.plan import Planner, Status
from resources.task import Part

MAX_FAULTS = 20
UNREADABLE = Exception
"""What reading a damaged file raises: libraries raise almost anything. A check reports it as a fault."""


def current_parts(corpus: Corpus, asset: str) -> list[Part]:
    """Built partitions of an asset that the corpus still has; orphans are none of a check's business."""
    planner = corpus.planner()
    records = planner.records(asset)
    return [Part(corpus.storage, records[key]) for key in planner.partitions(corpus.graph[asset]) if key in records]


def fresh_records(planner: Planner, asset: str) -> list[Record] | None:
    """Records of all partitions of an asset, or None while any of them is not fresh."""
    decisions = planner.decisions(planner.graph[asset])
    if any(decision.status is not Status.FRESH for decision in decisions.values()):
        return None
    records = planner.records(asset)
    return [records[key] for key in decisions]


def result(
    faults: Sequence[str], numbers: Mapping[str, int], notes: Mapping[str, dg.MetadataValue] | None = None
) -> dg.AssetCheckResult:
    """Passed when there are no faults; the first of them is the description, the others are listed."""
    metadata: dict[str, int | dg.MetadataValue] = {"faults": len(faults), **numbers, **(notes or {})}
    if faults:
        lines = [f"- `{fault.replace('`', chr(39))}`" for fault in faults[:MAX_FAULTS]]
        metadata["found"] = dg.MetadataValue.md("\n".join(lines))
    return dg.AssetCheckResult(
        passed=not faults,
        description=faults[0] + (f" (and {len(faults) - 1} more)" if len(faults) > 1 else "") if faults else None,
        metadata=metadata,
    )
