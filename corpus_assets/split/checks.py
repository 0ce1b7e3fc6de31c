"""Checks that no row is lost between raw files and splits, and that train has no held-out text."""

from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import NamedTuple

import dagster as dg
import numpy as np
from numpy.typing import NDArray

from corpus_assets.checking import (
    FILTERED_DOCUMENTS,
    Built,
    asset_key,
    current_partitions,
    fresh_records,
    result,
)
from corpus_assets.faults import UNREADABLE, unread
from corpus_assets.split.decontaminate import contaminated
from resources.formats.documents import text_digest
from resources.formats.row_tables import digests
from resources.ledger.ledger import Record
from resources.stage.partition import Partition

CONSERVATION = "conservation_of_rows"
NO_HOLDOUT_TEXT = "no_holdout_text_in_train"
MAX_CHUNKS_READ = 4


class Flow(NamedTuple):
    """One equation: the rows in are the rows out plus the rows dropped."""

    rule: str
    assets: tuple[str, ...]
    left: int
    right: int


_COUNTED = (
    "normalized_documents",
    FILTERED_DOCUMENTS,
    "mixed_pass1",
    "mixed_pass2",
    "train",
    "holdout",
    "validation",
    "test",
    "decontaminated_train",
)


def flows(records: Mapping[str, Sequence[Record]], *, filtered: bool = False) -> tuple[dict[str, int], list[Flow]]:
    """Returns the counts from raw rows to splits, and all equations between them whose assets are in `records`.

    records: the commit records of all partitions, by asset. filtered: True if the mix is made from filtered documents.
    """

    def total(asset: str, name: str = "rows_out") -> int:
        return sum(record.statistics[name] for record in records.get(asset, ()))

    def dropped(asset: str, reason: str | None = None) -> int:
        found = (record.statistics.get("dropped", {}) for record in records.get(asset, ()))
        return sum(reasons.get(reason, 0) if reason else sum(reasons.values()) for reasons in found)

    raw, first, second, clean = "normalized_documents", "mixed_pass1", "mixed_pass2", "decontaminated_train"
    sifted = FILTERED_DOCUMENTS if filtered else raw
    kept, repeats = total(first, "documents"), total(first, "repeats")
    split = total("train") + total("holdout") + dropped("holdout", "repeat_of_held_out")
    equations = [
        Flow("raw rows = documents + bad rows", (raw,), total(raw, "rows_in"), total(raw) + dropped(raw)),
        Flow("documents = kept + dropped", (sifted, first), total(sifted), kept + dropped(first)),
        Flow("kept + repeats = mixed", (first, second), kept + repeats, total(second)),
        Flow("mixed = train + holdout + repeats of held-out", (second, "train", "holdout"), total(second), split),
        Flow(
            "holdout = validation + test",
            ("holdout", "validation", "test"),
            total("holdout"),
            total("validation") + total("test"),
        ),
        Flow(
            "train = decontaminated + text in holdout", ("train", clean), total("train"), total(clean) + dropped(clean)
        ),
    ]
    if filtered:
        left = total(sifted) + dropped(sifted)
        equations.insert(1, Flow("documents = filtered + dropped by the filter", (raw, sifted), total(raw), left))
    counts = {f"rows of {name}": total(name) for name in _COUNTED if name in records}
    counts |= {
        f"dropped by {name}": dropped(name) for name in (raw, FILTERED_DOCUMENTS, first, clean) if name in records
    }
    return counts, [flow for flow in equations if all(name in records for name in flow.assets)]


def conservation_of_rows(corpus: Built) -> dg.AssetChecksDefinition:
    """Checks that raw rows = train + holdout + all dropped rows, stage by stage, from the commit records.

    An equation is checked only when all partitions of its assets are fresh; during a build it need not hold.
    """

    @dg.asset_check(
        asset=asset_key("decontaminated_train"), name=CONSERVATION, description=getdoc(conservation_of_rows)
    )
    def check() -> dg.AssetCheckResult:
        planner = corpus.planner()
        found = {name: fresh_records(planner, name) for name in _COUNTED if name in planner.graph.stages}
        fresh = {name: records for name, records in found.items() if records is not None}
        counts, equations = flows(fresh, filtered=FILTERED_DOCUMENTS in planner.graph.stages)
        faults = [f"{flow.rule}: {flow.left:,} is not {flow.right:,}" for flow in equations if flow.left != flow.right]
        waiting = [name for name, records in found.items() if records is None]
        notes = {"equations": _table(equations)}
        if waiting:
            notes["not judged yet, for these are not fresh"] = dg.MetadataValue.text(", ".join(waiting))
        return result(faults, {**counts, "equations judged": len(equations)}, notes)

    return check


def _table(equations: Sequence[Flow]) -> dg.MetadataValue:
    lines = [f"| {flow.rule} | {flow.left:,} | {flow.right:,} |" for flow in equations]
    return dg.MetadataValue.md("\n".join(["| rule | left | right |", "|---|---:|---:|", *lines]))


def leaks(chunk: Partition, holdout: NDArray[np.uint8], *, reread: bool) -> int:
    """Returns the number of rows of a train chunk whose text is in the holdout; `reread` digests the texts again."""
    rows = digests(chunk.array(".rows.npy"))
    known = [text_digest(document.text)[1] for document in chunk.documents()] if reread else rows
    return int(contaminated(known, holdout).sum())


def no_holdout_text_in_train(corpus: Built) -> dg.AssetChecksDefinition:
    """Checks that no text of decontaminated train is in the holdout: by row table for all chunks, by text for a few."""

    @dg.asset_check(
        asset=asset_key("decontaminated_train"), name=NO_HOLDOUT_TEXT, description=getdoc(no_holdout_text_in_train)
    )
    def check() -> dg.AssetCheckResult:
        known = current_partitions(corpus, "holdout_hashes")
        if not known:
            return result(["holdout_hashes does not exist yet"], {})
        holdout = known[0].array(".npy")
        chunks = current_partitions(corpus, "decontaminated_train")
        faults = []
        for place, chunk in enumerate(chunks):
            try:
                found = leaks(chunk, holdout, reread=place < MAX_CHUNKS_READ)
            except UNREADABLE as error:
                faults.append(f"{chunk.key}: {unread(error)}")
                continue
            if found:
                faults.append(f"{chunk.key}: {found:,} texts are in the holdout")
        return result(faults, {"chunks": len(chunks), "chunks read text by text": min(len(chunks), MAX_CHUNKS_READ)})

    return check
