"""The asset `duplicates`: the removed documents of each shard, with the documents kept instead."""

from corpus_assets.dedup.clusters.kept_ids import KeptIds
from corpus_assets.dedup.shared import stored_numbering
from resources.formats.attributes import CLUSTER_SIZE, DUPLICATE, SHORT, attribute_rows
from resources.stage.task import Task


def duplicates(task: Task) -> None:
    """Marks the duplicates of a shard, as a row-aligned Dolma attribute that names the document kept instead."""
    clusters = task.input("components")
    numbering = stored_numbering(clusters)
    block = numbering.block(clusters.array("clusters.npy"), task.shard.key)
    first = numbering.first(task.shard.key)
    removed = {int(member) - first: (int(kept), int(size)) for member, kept, size in block if member != kept}
    kept_ids = KeptIds(*(clusters.array(f"kept.{column}.npy") for column in ("documents", "ends", "ids")))
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
            out.add(document, spans, flagged=True, kept=why)
    task.count(rows_in=out.rows, rows_out=out.rows, duplicates=len(removed))
    task.count(duplicate_share=round(len(removed) / max(1, out.rows), 6))
