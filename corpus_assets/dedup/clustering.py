"""Clusters of near-duplicates over the whole corpus, and what they mean for each shard."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters import Numbering, ShardMarks, removal_rows
from corpus_assets.dedup.columns import Column
from corpus_assets.dedup.components import UnionFind
from corpus_assets.dedup.guard import GuardRules
from corpus_assets.dedup.keep import Facts, ranks_of_documents, source_ranks
from corpus_assets.dedup.names import Ids, Kept, names_of
from corpus_assets.dedup.pairs import Edges
from corpus_assets.dedup.report import WORST, Worst, losses
from corpus_assets.dedup.settle import Scale, Settled, guard_clusters
from corpus_assets.dedup.shards import (
    ORDER,
    blocks_of,
    numbering_of,
    require_numbering,
    sketches_of,
    stored_numbering,
    takes_part,
)
from resources.attributes import CLUSTER_SIZE, DUPLICATE, FLAGS, SHORT, attribute_line, attribute_rows
from resources.hashing import content_digest
from resources.rows import TEXT
from resources.task import Task


def components(task: Task) -> None:
    """Join the pairs into clusters, choose the document to keep of each, and look again at the suspicious ones."""
    documents = task.inputs("normalized_documents")
    numbering = numbering_of(documents)
    pair_parts = [task.input("exact_duplicates"), task.input("verified_pairs")]
    require_numbering(numbering, pair_parts, "shards.json")

    def pairs() -> Iterator[Edges]:
        return (block for part in pair_parts for block in blocks_of(part.array("pairs.npy")))

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
        scale=Scale(numbering.total, sketched.bits, task.memory, task.pending.scratch),
    ):
        worst.add(finding.kept, finding.members, finding.examined, finding.size)
    for kept, size, members in settled.largest(WORST):
        worst.add_unsuspected(kept, size, members)
    removed = _write_clusters(task, numbering, settled)
    eligible = numbering.by_source_of_shard(
        int(takes_part(task, part).sum()) for part in task.inputs("short_documents")
    )
    sources = losses(removed, eligible)
    report = worst.report(_namer(task, numbering, worst.documents()), sources)
    task.save_json("components/report.json", report, rows=len(report["clusters"]))
    task.save_json("components/shards.json", numbering.table(), rows=len(documents))
    task.count(suspicious_clusters=sum(report["examined"].values()), sources=sources)
    task.count(split_clusters=report["examined"]["split"], unexamined_clusters=report["examined"]["not examined"])


def _namer(task: Task, numbering: Numbering, wanted: list[int]) -> Callable[[int], dict[str, str | int]]:
    """Source, id, shard and row of these documents (ascending)."""
    ids: dict[int, str] = {}
    for block, names, _ in names_of(numbering, np.array(wanted, dtype=numbering.dtype), _ids(task)):
        ids |= {number: name.decode("utf-8", "replace") for number, name in zip(block.tolist(), names, strict=True)}
    return lambda number: {"id": ids[number], **numbering.described(number)}


def _ids(task: Task) -> Ids:
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


def duplicates(task: Task) -> None:
    """Mark the duplicates of a shard, as a row-aligned Dolma attribute that names the document kept instead."""
    part = task.input("components")
    numbering = stored_numbering(part)
    block = numbering.block(part.array("clusters.npy"), task.shard.key)
    first = numbering.first(task.shard.key)
    removed = {int(member) - first: (int(kept), int(size)) for member, kept, size in block if member != kept}
    kept_names = Kept(part.array("kept.documents.npy"), part.array("kept.ends.npy"), part.array("kept.ids.npy"))
    rows = 0
    with task.lines(f"attributes/duplicates/{task.shard.source}/{task.shard.name}.jsonl.gz") as out:
        for row, document in enumerate(attribute_rows(task.input("short_documents").lines())):
            rows += 1
            if row not in removed:
                out.write(attribute_line(document.id, document.source, {}))
                continue
            kept, size = removed[row]
            _, end, _ = document.attributes[SHORT][0]
            spans = {DUPLICATE: [(0, end, 1.0)], CLUSTER_SIZE: [(0, end, float(size))]}
            why = {"id": kept_names.id_of(kept), **numbering.described(kept)}
            out.write(attribute_line(document.id, document.source, spans, why))
    marks = np.zeros(rows, dtype=np.bool_)
    marks[list(removed)] = True
    task.segments[FLAGS] = content_digest(marks.tobytes())
    task.count(rows_in=rows, rows_out=rows, duplicates=len(removed))
    task.count(duplicate_share=round(len(removed) / max(1, rows), 6))
