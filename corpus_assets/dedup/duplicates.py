"""The asset `duplicates`: the removed documents of each shard, with the documents kept instead."""

from corpus_assets.dedup.clusters.kept_ids import KeptIds
from corpus_assets.dedup.containment.numbers import shares_of
from corpus_assets.dedup.containment.shared import HELD, UNITS
from corpus_assets.dedup.documents.numbering import Documents
from corpus_assets.dedup.shared import stored_numbering
from resources.errors import LedgerError
from resources.formats.attributes import CLUSTER_SIZE, CONTAINED, DUPLICATE, SHORT, attribute_rows
from resources.stage.partition import Partition
from resources.stage.task import Task


def duplicates(task: Task) -> None:
    """Marks the duplicates of a shard, as a row-aligned Dolma attribute that names the document kept instead."""
    clusters = task.input("components")
    numbering = stored_numbering(clusters)
    if not numbering.has(task.shard.key):
        raise LedgerError(f"components was made before {task.shard.key} was there; build components first")
    block = numbering.block(clusters.array("clusters.npy"), task.shard.key)
    first = numbering.first(task.shard.key)
    removed = {int(member) - first: (int(kept), int(size)) for member, kept, size in block if member != kept}
    kept_ids = KeptIds(*(clusters.array(f"kept.{column}.npy") for column in ("documents", "ends", "ids")))
    shares = _shares(clusters, block[:, 0], first)
    # No stage reads a table of these flags, and the digest shows when they change.
    with task.attributes("duplicates", flag_table=None) as out:
        for row, document in enumerate(attribute_rows(task.input("short_documents").lines())):
            if row not in removed:
                out.add(document, {}, flagged=False)
                continue
            kept, size = removed[row]
            _, end, _ = document.attributes[SHORT][0]
            spans = {DUPLICATE: [(0, end, 1.0)], CLUSTER_SIZE: [(0, end, float(size))]}
            why = {"id": kept_ids.id_of(kept), **numbering.described(kept)}
            if row in shares:
                spans[CONTAINED] = [(0, end, shares[row])]
            out.add(document, spans, flagged=True, kept=why)
    task.count(rows_in=out.rows, rows_out=out.rows, duplicates=len(removed))
    task.count(duplicate_share=round(len(removed) / max(1, out.rows), 6))


def _shares(clusters: Partition, members: Documents, first: int) -> dict[int, float]:
    """Returns of the documents that went since the kept one holds them the share that it holds, by row of the shard."""
    if not clusters.has(HELD):
        return {}
    shares = shares_of(members, clusters.array(HELD))
    return {int(member) - first: int(share) / UNITS for member, share in zip(members, shares, strict=True) if share}
