"""The asset `components` where documents within others go too: all clusters are looked at together."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.configured import comparison_of, rules_of
from corpus_assets.dedup.clusters.keep import Facts, ranks_of_documents, source_ranks
from corpus_assets.dedup.clusters.kept_ids import IdTables, ids_of
from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.clusters.resolve import Pairs, Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.clusters.worst import WORST, Worst, losses
from corpus_assets.dedup.containment.groups import Blocks, groups_with_contained, kept_pairs
from corpus_assets.dedup.containment.numbers import contained_numbers, shares_of
from corpus_assets.dedup.containment.rejoin import Holding
from corpus_assets.dedup.containment.shared import HELD, HOLDING, shingling_of
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Edges, Numbering, ShardMarks, removal_rows
from corpus_assets.dedup.documents.places import Places
from corpus_assets.dedup.documents.repeated_ids import REPEATED_IDS, repeated_ids
from corpus_assets.dedup.shared import (
    KEPT_THRESHOLD,
    LOSSES,
    ORDER,
    PAIR_THRESHOLD,
    blocks_of,
    numbering_of,
    numbers_that_take_part,
    require_numbering,
    sketches_of,
    stored_scheme,
    texts_of,
)
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.similarity.check import Texts
from corpus_assets.dedup.templates.lost import NEVER, Alike, lost_to_template
from corpus_assets.dedup.templates.reading import templates_of
from resources.documents.template_notes import LOST_TO_TEMPLATE
from resources.formats.row_tables import TEXT
from resources.stage.partition import Partition
from resources.stage.task import Task


def components(task: Task) -> None:
    """Joins the pairs into clusters, chooses the kept document of each, and examines suspicious ones."""
    documents = task.inputs("normalized_documents")
    numbering = numbering_of(documents)
    names = ("exact_duplicates", "verified_pairs", "contained_pairs")
    paired = [task.inputs(name) for name in names if task.reads(name)]
    require_numbering(numbering, [found for ranges in paired for found in ranges], ".shards.json")
    settled, worst, gone, held = _settled(task, numbering)
    for kept, size, members in settled.largest(WORST):
        worst.add_unsuspected(kept, size, members)
    removed = _write_clusters(task, numbering, settled, held)
    task.save_array(f"components/{HELD}", held)
    copies = _by_later(numbering, task.inputs("exact_duplicates"))[:, 1]
    task.count(**contained_numbers(numbering, held, copies, task.statistics["removed_near"]))
    eligible = numbering.by_source_of_shard(numbers_that_take_part(task, task.inputs("short_documents")))
    sources = losses(removed, eligible)
    report = worst.report(_describer(task, numbering, worst.documents()), sources)
    task.save_json("components/report.json", report, rows=len(report["clusters"]))
    task.save_json("components/shards.json", numbering.table(), rows=len(documents))
    examined = report["examined"]
    task.count(suspicious_clusters=sum(examined.values()), split_clusters=examined["split"])
    task.count(documents_kept_by_splits=worst.moved, unexamined_clusters=examined["not examined"])
    task.count(kept_documents_joined=gone)
    if repeated := repeated_ids(documents, task.memory // 4, task.scratch):
        task.count(**{REPEATED_IDS: repeated})
    if lost := lost_to_template(settled.blocks, numbering, sources, _texts(task, numbering), _alike(task)):
        task.count(**{LOST_TO_TEMPLATE: lost})
    task.save_counters(LOSSES, {"sources": sources, "unexamined_clusters": examined["not examined"]})


def _settled(task: Task, numbering: Numbering) -> tuple[Settled, Worst, int, NDArray[np.void]]:
    """Returns the clusters with their kept documents, the suspicious ones, and how many kept documents joined others.

    Also the documents that go because the kept one holds them.
    """
    keep = task["dedup.keep"], _facts(task, numbering)
    equal, worst, gone = partial(_pairs, task.inputs("exact_duplicates")), Worst(), 0
    alike: list[Blocks] = []
    if task.reads("verified_pairs"):
        similar = partial(_pairs, task.inputs("verified_pairs"))
        sets = UnionFind(numbering.total)
        for block in chain(equal(), similar()):
            sets.add(block)
        settled = Settled(sets, *keep)
        worst, gone = _guarded(task, numbering, settled, Pairs(equal, similar))
        alike = [similar, partial(kept_pairs, settled)]
    contained = task.inputs("contained_pairs")
    settled, held = groups_with_contained(
        numbering, keep=keep, equal=equal, similar=alike, contained=contained, holding=_holding(task, numbering)
    )
    return settled, worst, gone, held


def _holding(task: Task, numbering: Numbering) -> Holding:
    """Returns how documents are compared of which one may stand in the other."""
    return Holding(
        total=numbering.total,
        texts=_texts(task, numbering),
        scheme=shingling_of(task),
        least=task[HOLDING],
        memory=task.memory,
        spill=task.scratch,
        template=templates_of(task, numbering),
    )


def _pairs(paired: Sequence[Partition]) -> Iterator[Edges]:
    """Yields the pairs of all ranges, in blocks."""
    return (block for found in paired for block in blocks_of(found.array(".npy")))


def _by_later(numbering: Numbering, exact: Sequence[Partition]) -> Edges:
    """Returns the pairs of equal texts of all ranges in memory, ascending by the later document."""
    pairs = np.concatenate([np.empty((0, 2), numbering.dtype), *_pairs(exact)])
    return pairs[np.argsort(pairs[:, 1])]


def _guarded(task: Task, numbering: Numbering, settled: Settled, pairs: Pairs) -> tuple[Worst, int]:
    """Splits clusters as the guard decides; returns the suspicious ones.

    Also how many kept documents of split clusters joined another.
    """
    sketches, sketched = sketches_of(task, numbering)
    worst = Worst()
    gone = guard_clusters(
        settled,
        pairs,
        guard=rules_of(task, sketched.bits),
        sketches=sketches,
        scale=Scale(numbering.total, sketched.bits, task.memory, task.scratch),
        on_finding=worst.add,
        comparison=comparison_of(task, numbering, sketches, sketched),
    )
    return worst, gone


def _describer(task: Task, numbering: Numbering, wanted: list[int]) -> Callable[[int], dict[str, str | int]]:
    """Returns a function that gives source, id, shard, row and cluster of each of these documents (ascending)."""
    known: dict[int, str] = {}
    for block, ids, _ in ids_of(numbering, np.array(wanted, dtype=numbering.dtype), _id_tables(task)):
        known |= {number: str(found, "utf-8", "replace") for number, found in zip(block.tolist(), ids, strict=True)}
    return lambda number: {"id": known[number], **numbering.described(number)}


def _id_tables(task: Task) -> IdTables:
    """Returns a function that opens the ids of a shard."""
    documents = task.inputs("normalized_documents")
    return lambda position: (
        documents[position].array(".texts.npy")["id_end"],
        documents[position].array(".ids.npy"),
    )


def _facts(task: Task, numbering: Numbering) -> Facts:
    """Returns the values that the keep rules compare."""
    documents = task.inputs("normalized_documents")
    texts = Column(numbering, lambda position: documents[position].array(".texts.npy"), np.empty(0, TEXT))
    ranks = dict(zip(task[ORDER], source_ranks(task[ORDER], task["dedup.priority"]), strict=True))
    return {
        "source": ranks_of_documents(numbering.starts, [ranks[name] for name in numbering.sources]),
        "longest": lambda members: texts.take(members)["bytes"],
        "newest": lambda members: texts.take(members)["created"],
    }


def _write_clusters(task: Task, numbering: Numbering, settled: Settled, held: NDArray[np.void]) -> Counter[str]:
    """Writes every member of a cluster with the kept document and the size; returns removed documents by source.

    held: documents that go because the kept one holds them.
    """
    kept_documents = settled.kept_for_others()
    hashes, places = _write_ids(task, numbering, kept_documents), Places(kept_documents, numbering.total)
    removed: Counter[str] = Counter()
    marks = ShardMarks(numbering)
    numbers = ClusterNumbers(numbering, _by_later(numbering, task.inputs("exact_duplicates")))
    rows = clusters = largest = 0
    with task.array("components/clusters.npy", numbering.dtype, (3,)) as out:
        for members, kept, sizes in settled.blocks():
            out.append(np.stack([members, kept, sizes], axis=1).astype(numbering.dtype))
            gone = members != kept
            numbers.add(members, kept, sizes)
            ids = hashes[places.of(kept[gone])]
            shares = shares_of(members[gone], held)
            marks.add(members[gone], removal_rows(numbering, members[gone], kept[gone], sizes[gone], ids, shares))
            removed.update(numbering.by_source(members[gone]))
            rows, clusters = rows + len(members), clusters + int((~gone).sum())
            largest = max(largest, int(sizes.max(initial=0)))
    task.segments.update(marks.digests())
    task.count(rows_in=numbering.total, rows_out=rows, clusters=clusters, largest=largest, duplicates=removed.total())
    task.count(**numbers.statistics())
    return removed


def _alike(task: Task) -> Alike:
    """Returns when the text of a removed document and that of the kept one are alike."""
    if task.reads("minhashes"):
        scheme = Sketched.read(task.inputs("minhashes").once(stored_scheme)).scheme
        similarity = task.parameters.get(PAIR_THRESHOLD, task.parameters.get(KEPT_THRESHOLD, 1.0))
    else:
        scheme, similarity = shingling_of(task), NEVER
    return Alike(scheme, similarity, task.parameters.get(HOLDING, NEVER))


def _texts(task: Task, numbering: Numbering) -> Texts:
    return lambda bitmap: texts_of(task.inputs("normalized_documents"), numbering, bitmap)


def _write_ids(task: Task, numbering: Numbering, kept: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint64]:
    """Writes the ids of the kept documents of clusters; returns a hash of each."""
    hashes: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    end = 0
    with (
        task.array("components/kept.ends.npy", np.uint64) as ends,
        task.array("components/kept.ids.npy", np.uint8) as characters,
    ):
        for _, ids, hashed in ids_of(numbering, kept, _id_tables(task)):
            block = np.cumsum([len(found) for found in ids], dtype=np.uint64) + np.uint64(end)
            ends.append(block)
            characters.append(np.frombuffer(b"".join(ids), dtype=np.uint8))
            hashes.append(hashed)
            end = int(block[-1])
    task.save_array("components/kept.documents.npy", kept)
    return np.concatenate(hashes)
