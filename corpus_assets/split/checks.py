"""No row is lost between raw and splits, and no held-out text is left in train."""

from collections.abc import Iterable
from typing import Any

import dagster as dg

from corpus_assets.corpus import Corpus
from corpus_assets.split.decontaminate import contaminated
from corpus_assets.stage import asset_key
from resources.documents import text_digest
from resources.ledger import Record
from resources.rows import digests
from resources.task import Part

CONSERVATION = "conservation_of_rows"
NO_HOLDOUT_TEXT = "no_holdout_text_in_train"
MAX_CHUNKS_READ = 4


def ledger_of_rows(records: dict[str, list[Record]]) -> tuple[dict[str, int], list[str]]:
    """Every count from raw rows to train and holdout, and each equation between them that does not hold.

    records: the commit records of every asset's current partitions.
    """
    raw, out = (
        _total(records["normalized_documents"], "rows_in"),
        _total(records["normalized_documents"], "rows_out"),
    )
    bad = sum(sum(_dropped(record).values()) for record in records["normalized_documents"])
    first, drops = records["mixed_pass1"], _all_dropped(records["mixed_pass1"])
    documents, repeats = _total(first, "documents"), _total(first, "repeats")
    mixed, train = _total(records["mixed_pass2"], "rows_out"), _total(records["train"], "rows_out")
    holdout, clean = (
        _total(records["holdout"], "rows_out"),
        _total(records["decontaminated_train"], "rows_out"),
    )
    repeated = _all_dropped(records["holdout"]).get("repeat_of_held_out", 0)
    removed = sum(_all_dropped(records["decontaminated_train"]).values())
    splits = _total(records["validation"], "rows_out") + _total(records["test"], "rows_out")
    counts = {
        "raw rows": raw,
        "bad rows": bad,
        "documents": out,
        **{f"dropped: {k}": v for k, v in drops.items()},
    }
    counts |= {"kept documents": documents, "repeats by epochs": repeats, "train": train, "holdout": holdout}
    counts |= {"repeats of held-out": repeated, "text in holdout": removed, "decontaminated train": clean}
    equations = [
        ("raw = documents + bad rows", raw, out + bad),
        ("documents = kept + dropped", out, documents + sum(drops.values())),
        ("kept + repeats = mixed", documents + repeats, mixed),
        ("mixed = train + holdout + repeats of held-out", mixed, train + holdout + repeated),
        ("holdout = validation + test", holdout, splits),
        ("train = decontaminated + text in holdout", train, clean + removed),
    ]
    return counts, [f"{name}: {left:,} is not {right:,}" for name, left, right in equations if left != right]


def _total(records: Iterable[Record], name: str) -> int:
    return sum(record.statistics[name] for record in records)


def _dropped(record: Record) -> dict[str, int]:
    return dict(record.statistics.get("dropped", {}))


def _all_dropped(records: Iterable[Record]) -> dict[str, int]:
    total: dict[str, int] = {}
    for record in records:
        for reason, count in _dropped(record).items():
            total[reason] = total.get(reason, 0) + count
    return total


_COUNTED = (
    "normalized_documents",
    "mixed_pass1",
    "mixed_pass2",
    "train",
    "holdout",
    "validation",
    "test",
    "decontaminated_train",
)


def conservation_of_rows(corpus: Corpus) -> dg.AssetChecksDefinition:
    """Raw rows = train + holdout + everything dropped, stage by stage, from the commit records."""

    @dg.asset_check(
        asset=asset_key("decontaminated_train"), name=CONSERVATION, description=conservation_of_rows.__doc__
    )
    def check() -> dg.AssetCheckResult:
        planner = corpus.planner()
        current = {name: set(planner.partitions(corpus.graph[name])) for name in _COUNTED}
        found = {n: [r for key, r in corpus.ledger.records(n).items() if key in current[n]] for n in _COUNTED}
        counts, faults = ledger_of_rows(found)
        metadata: dict[str, Any] = {**counts, "faults": faults}
        return dg.AssetCheckResult(passed=not faults, metadata=metadata)

    return check


def leaks(part: Part, holdout: Any, *, reread: bool) -> int:
    """Rows of a train chunk whose text is in the holdout; `reread` digests the texts again."""
    known = (
        [text_digest(document.text)[1] for document in part.documents()] if reread else digests(part.array(".rows.npy"))
    )
    return int(contaminated(known, holdout).sum())


def no_holdout_text_in_train(corpus: Corpus) -> dg.AssetChecksDefinition:
    """No text of decontaminated train is in the holdout: by row table for all chunks, by text for a few."""

    @dg.asset_check(
        asset=asset_key("decontaminated_train"),
        name=NO_HOLDOUT_TEXT,
        description=no_holdout_text_in_train.__doc__,
    )
    def check() -> dg.AssetCheckResult:
        selection = corpus.ledger.read("holdout_hashes", None)
        if selection is None:
            return dg.AssetCheckResult(passed=False, description="holdout_hashes does not exist yet")
        holdout = Part(corpus.storage, selection).array(".npy")
        chunks = sorted(corpus.ledger.records("decontaminated_train").items(), key=lambda item: item[0] or "")
        parts = [Part(corpus.storage, record) for _, record in chunks]
        found = [leaks(part, holdout, reread=place < MAX_CHUNKS_READ) for place, part in enumerate(parts)]
        metadata = {
            "chunks": len(parts),
            "chunks read": min(len(parts), MAX_CHUNKS_READ),
            "leaks": sum(found),
        }
        return dg.AssetCheckResult(passed=not sum(found), metadata=metadata)

    return check
