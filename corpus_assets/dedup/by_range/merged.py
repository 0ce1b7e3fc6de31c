"""The asset `components` of clusters that were found by ranges: they come together, in the order of the documents."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.found import Found
from corpus_assets.dedup.by_range.guarded import TOGETHER
from corpus_assets.dedup.by_range.ids import MemberIds
from corpus_assets.dedup.by_range.stored import HASHES, REPORT, ROWS
from corpus_assets.dedup.clusters.worst import losses
from corpus_assets.dedup.documents.numbering import Documents, Numbering, ShardMarks, removal_rows
from corpus_assets.dedup.documents.repeated_ids import REPEATED_IDS
from corpus_assets.dedup.shared import (
    LOSSES,
    STARTS,
    numbering_of,
    numbers_that_take_part,
    require_numbering,
    texts_of,
)
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.templates.lost import NEVER, Alike, lost_to_template
from resources.documents.template_notes import LOST_TO_TEMPLATE
from resources.stage.partitions import Partitions
from resources.stage.task import Task


def components_of_ranges(task: Task) -> None:
    """Writes the clusters of all ranges in the order of their members, and adds up what was found in them."""
    documents, guarded = task.inputs("normalized_documents"), task.inputs("guarded_clusters")
    numbering = numbering_of(documents)
    require_numbering(numbering, guarded, ".shards.json")
    reports = [part.json(REPORT) for part in guarded]
    found = Found(numbering)
    for report in reports:
        found.add(report, numbering.dtype)
    ids = MemberIds(task.inputs("cluster_members"), numbering)
    _write_clusters(task, numbering, guarded, ids)
    removed = found.numbers.removed()
    task.count(duplicates=removed.total(), **found.numbers.statistics())
    eligible = numbering.by_source_of_shard(numbers_that_take_part(task, task.inputs("short_documents")))
    sources = losses(removed, eligible)
    worst = found.with_largest(numbering.dtype)
    report = worst.report(lambda number: {"id": ids.id_of(number), **numbering.described(number)}, sources)
    task.save_json("components/report.json", report, rows=len(report["clusters"]))
    task.save_json("components/shards.json", numbering.table(), rows=len(documents))
    examined = report["examined"]
    task.count(suspicious_clusters=sum(examined.values()), split_clusters=examined["split"])
    task.count(documents_kept_by_splits=worst.moved, unexamined_clusters=examined["not examined"])
    task.count(kept_documents_joined=found.gone)
    if repeated := _repeated(numbering, reports):
        task.count(**{REPEATED_IDS: repeated})
    alike = Alike(Sketched.read(reports[0]["scheme"]).scheme, reports[0]["similarity"], NEVER)
    merged = _blocks(guarded, numbering)
    if lost := lost_to_template(merged, numbering, sources, lambda asked: texts_of(documents, numbering, asked), alike):
        task.count(**{LOST_TO_TEMPLATE: lost})
    task.save_counters(LOSSES, {"sources": sources, "unexamined_clusters": examined["not examined"]})


def _write_clusters(task: Task, numbering: Numbering, guarded: Partitions, kept_ids: MemberIds) -> None:
    """Writes every member of a cluster with the kept document and the size, and the ids of the kept ones."""
    marks, rows, clusters, largest, end = ShardMarks(numbering), 0, 0, 0, 0
    with (
        task.array("components/clusters.npy", numbering.dtype, (3,)) as out,
        task.array("components/kept.documents.npy", numbering.dtype) as documents,
        task.array("components/kept.ends.npy", np.uint64) as ends,
        task.array("components/kept.ids.npy", np.uint8) as characters,
    ):
        for members, kept, sizes, ids in _merged(guarded, numbering):
            out.append(np.stack([members, kept, sizes], axis=1))
            gone = members != kept
            marks.add(members[gone], removal_rows(numbering, members[gone], kept[gone], sizes[gone], ids[gone]))
            documents.append(members[~gone])
            for bytes_of_id, names in kept_ids.of(members[~gone]):
                ends.append(np.cumsum(bytes_of_id, dtype=np.uint64) + np.uint64(end))
                characters.append(names)
                end += len(names)
            rows, clusters = rows + len(members), clusters + int((~gone).sum())
            largest = max(largest, int(sizes.max(initial=0)))
    task.segments.update(marks.digests())
    task.count(rows_in=numbering.total, rows_out=rows, clusters=clusters, largest=largest)


def _blocks(
    guarded: Partitions, numbering: Numbering
) -> Callable[[], Iterator[tuple[Documents, Documents, Documents]]]:
    """Returns a function that yields blocks of (members, kept, sizes), members ascending through all of them."""
    return lambda: ((members, kept, sizes) for members, kept, sizes, _ in _merged(guarded, numbering))


def _merged(
    guarded: Partitions, numbering: Numbering
) -> Iterator[tuple[Documents, Documents, Documents, NDArray[np.uint64]]]:
    """Yields blocks of (members, kept, sizes, hash of the kept one's id), members ascending through all of them."""
    parts = [(part.array(ROWS), part.array(HASHES), part.counters(STARTS)["starts"]) for part in guarded]
    for number in range((numbering.total >> TOGETHER) + 1):
        first = number << TOGETHER
        wide = min(1 << TOGETHER, numbering.total - first)
        # A place for every document sorts the members without comparing them.
        rows, ids = np.zeros((wide, 2), numbering.dtype), np.zeros(wide, np.uint64)
        for clusters, hashes, starts in parts:
            some = slice(starts[number], starts[number + 1])
            places = clusters[some, 0].astype(np.int64) - first
            rows[places], ids[places] = clusters[some, 1:], hashes[some]
        places = np.flatnonzero(rows[:, 1])
        members = (places + first).astype(numbering.dtype)
        yield members, rows[places, 0], rows[places, 1], ids[places]


def _repeated(numbering: Numbering, reports: list[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """Returns for each source of which files repeat ids of earlier ones its documents, and how many ids."""
    documents = numbering.by_source_of_shard(np.diff(numbering.starts).tolist())
    sums = {source: sum(report["repeated"].get(source, 0) for report in reports) for source in documents}
    return {source: {"documents": documents[source], "repeated": count} for source, count in sums.items() if count}
