"""The asset `components`: clusters of near-duplicates over the whole corpus, and the document kept of each."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.guard import GuardRules
from corpus_assets.dedup.clusters.keep import Facts, ranks_of_documents, source_ranks
from corpus_assets.dedup.clusters.kept_ids import IdTables, names_of
from corpus_assets.dedup.clusters.resolve import Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.clusters.worst import WORST, Worst, losses
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Edges, Numbering, ShardMarks, removal_rows
from corpus_assets.dedup.shared import (
    LOSSES,
    ORDER,
    blocks_of,
    numbering_of,
    require_numbering,
    sketches_of,
    takes_part,
)
from resources.formats.row_tables import TEXT
from resources.stage.task import Task


def components(task: Task) -> None:
    """Join the pairs into clusters, choose the document to keep of each, and look again at the suspicious ones."""
    documents = task.inputs("normalized_documents")
    numbering = numbering_of(documents)
    paired = [task.input("exact_duplicates"), task.input("verified_pairs")]
    require_numbering(numbering, paired, "shards.json")

    def pairs() -> Iterator[Edges]:
        return (block for found in paired for block in blocks_of(found.array("pairs.npy")))

    rules, facts = task["dedup.keep"], _facts(task, numbering)
    sets = UnionFind(numbering.total)
    for block in pairs():
        sets.add(block)
    settled = Settled(sets, rules, facts)
    sketches, sketched = sketches_of(task, numbering)
    worst = Worst()
    for finding in guard_clusters(
        settled,
        pairs(),
        rules=rules,
        facts=facts,
        guard=GuardRules(
            *(task[f"dedup.guard.{name}"] for name in ("action", "max_cluster", "resemblance", "max_examined"))
        ),
        sketches=sketches,
        scale=Scale(numbering.total, sketched.bits, task.memory, task.scratch),
    ):
        worst.add(finding.kept, finding.members, finding.examined, finding.size)
    for kept, size, members in settled.largest(WORST):
        worst.add_unsuspected(kept, size, members)
    removed = _write_clusters(task, numbering, settled)
    eligible = numbering.by_source_of_shard(
        int(takes_part(task, shard).sum()) for shard in task.inputs("short_documents")
    )
    sources = losses(removed, eligible)
    report = worst.report(_namer(task, numbering, worst.documents()), sources)
    task.save_json("components/report.json", report, rows=len(report["clusters"]))
    task.save_json("components/shards.json", numbering.table(), rows=len(documents))
    examined = report["examined"]
    task.count(suspicious_clusters=sum(examined.values()), split_clusters=examined["split"])
    task.count(unexamined_clusters=examined["not examined"])
    task.save_counters(LOSSES, {"sources": sources, "unexamined_clusters": examined["not examined"]})


def _namer(task: Task, numbering: Numbering, wanted: list[int]) -> Callable[[int], dict[str, str | int]]:
    """Source, id, shard and row of these documents (ascending)."""
    ids: dict[int, str] = {}
    for block, names, _ in names_of(numbering, np.array(wanted, dtype=numbering.dtype), _ids(task)):
        ids |= {number: name.decode("utf-8", "replace") for number, name in zip(block.tolist(), names, strict=True)}
    return lambda number: {"id": ids[number], **numbering.described(number)}


def _ids(task: Task) -> IdTables:
    """Where to find the ids of a shard."""
    documents = task.inputs("normalized_documents")
    return lambda position: (
        documents[position].array(".texts.npy")["id_end"],
        documents[position].array(".ids.npy"),
    )


def _facts(task: Task, numbering: Numbering) -> Facts:
    """What the keep rules look at."""
    documents = task.inputs("normalized_documents")
    texts = Column(numbering, lambda position: documents[position].array(".texts.npy"), np.empty(0, TEXT))
    ranks = dict(zip(task[ORDER], source_ranks(task[ORDER], task["dedup.priority"]), strict=True))
    return {
        "source": ranks_of_documents(numbering.starts, [ranks[name] for name in numbering.sources]),
        "longest": lambda members: texts.take(members)["bytes"],
        "newest": lambda members: texts.take(members)["created"],
    }


def _write_clusters(task: Task, numbering: Numbering, settled: Settled) -> Counter[str]:
    """Every member of a cluster with the document kept and the size; by source, how many documents go."""
    kept_documents = settled.kept_for_others()
    hashes = _write_names(task, numbering, kept_documents)
    removed: Counter[str] = Counter()
    marks = ShardMarks(numbering)
    rows = clusters = largest = 0
    with task.array("components/clusters.npy", numbering.dtype, (3,)) as out:
        for members, kept, sizes in settled.blocks():
            out.append(np.stack([members, kept, sizes], axis=1).astype(numbering.dtype))
            gone = members != kept
            ids = hashes[np.searchsorted(kept_documents, kept[gone])]
            marks.add(members[gone], removal_rows(numbering, members[gone], kept[gone], sizes[gone], ids))
            removed.update(numbering.by_source(members[gone]))
            rows, clusters = rows + len(members), clusters + int((~gone).sum())
            largest = max(largest, int(sizes.max(initial=0)))
    task.segments.update(marks.digests())
    task.count(rows_in=numbering.total, rows_out=rows, clusters=clusters, largest=largest, duplicates=removed.total())
    return removed


def _write_names(task: Task, numbering: Numbering, kept: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint64]:
    """The ids of documents that are kept in others' stead; returns a hash of each."""
    hashes: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    end = 0
    with (
        task.array("components/kept.ends.npy", np.uint64) as ends,
        task.array("components/kept.ids.npy", np.uint8) as characters,
    ):
        for _, names, hashed in names_of(numbering, kept, _ids(task)):
            lengths = np.cumsum([len(name) for name in names], dtype=np.uint64) + np.uint64(end)
            ends.append(lengths)
            characters.append(np.frombuffer(b"".join(names), dtype=np.uint8))
            hashes.append(hashed)
            end = int(lengths[-1])
    task.save_array("components/kept.documents.npy", kept)
    return np.concatenate(hashes)
