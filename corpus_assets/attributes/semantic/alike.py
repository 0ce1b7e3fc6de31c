"""The asset `<name>_alike`: the documents of a range of clusters that resemble a kept one."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.semantic.centers import CENTERS
from corpus_assets.attributes.semantic.integers import Vectors
from corpus_assets.attributes.semantic.leaders import leaders
from corpus_assets.attributes.semantic.members import RANGES, member_row
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.dedup.clusters.keep import Facts, ranking, source_ranks
from corpus_assets.dedup.clusters.kept_ids import ids_of
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.shared import ORDER, numbering_of, save_numbering, spans_of
from resources.errors import LedgerError
from resources.hashing import content_digest
from resources.spill import Buckets
from resources.stage.task import Task

ALIKE: Final = np.dtype([("row", "<u4"), ("score", "<u4"), ("kept", "<u8")])
"""A document that resembles a kept one: its row in its shard, the cosine in millionths, and the number of the other."""

SCALE: Final = 1_000_000
KEEP: Final = "keep"
_SHARE: Final = 4
"""Part of the memory that the documents of a cluster may take."""


class _Found(NamedTuple):
    """Documents that resemble a kept one, by number, and these (n,), with their cosines."""

    numbers: NDArray[np.uint64]
    kept: NDArray[np.uint64]
    scores: NDArray[np.float64]


def alike(task: Task, rule: Semantic) -> None:
    """Writes the documents of the clusters of a range that resemble a kept one, in order, and the ids of those kept."""
    numbering = numbering_of(task.inputs("normalized_documents"))
    shards = task.inputs(f"{rule.name}_members")
    if [shard.key for shard in shards] != list(numbering.shards):
        raise LedgerError(f"{rule.name}: vectors are of other shards than the present ones; run `corpus build`")
    found, compared, largest = _compared(task, rule, numbering)
    order = np.argsort(found.numbers)
    numbers, kept = found.numbers[order], found.kept[order]
    table = np.empty(len(numbers), dtype=ALIKE)
    of_shards = numbering.shards_of(numbers)
    table["row"], table["kept"] = numbering.rows_of(numbers, of_shards), kept
    table["score"] = np.rint(found.scores[order] * SCALE)
    path = f"dedupers/{rule.name}/alike/{task.key}"
    task.save_array(f"{path}.alike.npy", table)
    hashes = _save_ids(task, path, numbering, np.unique(kept))
    save_numbering(task, f"{path}.shards.json", numbering)
    cuts = np.searchsorted(of_shards, np.arange(len(numbering.shards) + 1))
    task.save_json(f"{path}.starts.json", cuts.tolist(), rows=len(cuts))
    facts = _facts(numbering, table, hashes)
    for place in np.flatnonzero(np.diff(cuts)).tolist():
        part = facts[cuts[place] : cuts[place + 1]]
        task.segments[numbering.shards[place]] = content_digest(np.ascontiguousarray(part).tobytes())
    task.count(rows_in=compared, rows_out=len(table), largest_cluster=largest)


def _compared(task: Task, rule: Semantic, numbering: Numbering) -> tuple[_Found, int, int]:
    """Returns what resembles what in a range; the number of documents that are compared, and of the largest cluster."""
    shards, ranges = task.inputs(f"{rule.name}_members"), task[RANGES]
    clusters, dimensions = task.input(f"{rule.name}_centers").array(CENTERS).shape
    stored = member_row(dimensions)
    numbered = np.dtype([("number", "<u8"), ("of", stored)])
    parts: list[_Found] = [_Found(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0))]
    spans, compared, largest = spans_of(shards, task.key).tolist(), 0, 0
    with Buckets(-(-clusters // ranges), numbered, task.memory // 4, task.scratch) as by_cluster:
        for place, shard in enumerate(shards):
            start, stop = spans[place]
            for block in shard.segment_blocks(".npy", task.key, stored, start, stop) if stop > start else ():
                rows = np.empty(len(block), dtype=numbered)
                rows["number"], rows["of"] = block["row"].astype(np.uint64) + numbering.bounds[place], block
                by_cluster.append(block["cluster"] // ranges, rows)
        for place in range(len(by_cluster)):
            if (size := by_cluster.size(place)) > 1:
                parts.append(_of_cluster(_together(by_cluster, place, task), rule, task, numbering))
            compared, largest = compared + size, max(largest, size)
    return _Found(*(np.concatenate(columns) for columns in zip(*parts, strict=True))), compared, largest


def _together(rows: Buckets, place: int, task: Task) -> NDArray[Any]:
    """Returns the documents of a cluster: in memory, or in a scratch file if they are too many."""
    size = rows.size(place)
    if size * rows.dtype.itemsize <= task.memory // _SHARE:
        return np.concatenate(list(rows.rows(place)))
    file = task.scratch()
    for block in rows.rows(place):
        file.write(block.tobytes())
    file.flush()
    return np.memmap(file, dtype=rows.dtype, mode="r", shape=(size,))


def _of_cluster(members: NDArray[Any], rule: Semantic, task: Task, numbering: Numbering) -> _Found:
    numbers = np.array(members["number"])
    ranks = dict(zip(task[ORDER], source_ranks(task[ORDER], task["dedup.priority"]), strict=True))
    of_shards = np.array([ranks[name] for name in numbering.sources])
    facts: Facts = {
        "source": lambda documents: of_shards[numbering.shards_of(documents)],
        "longest": lambda _: np.array(members["of"]["bytes"]),
        "newest": lambda _: np.array(members["of"]["created"]),
    }
    order = np.argsort(ranking(numbers, task[f"dedupers.{rule.name}.{KEEP}"], facts))

    def take(places: NDArray[np.int64]) -> Vectors:
        found: Vectors = members["of"]["vector"][order[places]]
        return found

    instead, scores = leaders(take, len(numbers), rule.threshold)
    gone = np.flatnonzero(instead != np.arange(len(instead)))
    return _Found(numbers[order[gone]], numbers[order[instead[gone]]], scores[gone])


def _save_ids(task: Task, path: str, numbering: Numbering, kept: NDArray[np.uint64]) -> dict[int, int]:
    """Writes the ids of the kept documents; returns a hash of each by its number."""
    documents = task.inputs("normalized_documents")
    hashes: dict[int, int] = {}
    end = 0
    with (
        task.array(f"{path}.kept.ends.npy", np.uint64) as ends,
        task.array(f"{path}.kept.ids.npy", np.uint8) as characters,
    ):
        for block, ids, hashed in ids_of(
            numbering,
            kept.astype(numbering.dtype),
            lambda place: (documents[place].array(".texts.npy")["id_end"], documents[place].array(".ids.npy")),
        ):
            stops = np.cumsum([len(found) for found in ids], dtype=np.uint64) + np.uint64(end)
            ends.append(stops)
            characters.append(np.frombuffer(b"".join(ids), dtype=np.uint8))
            hashes |= dict(zip(block.tolist(), hashed.tolist(), strict=True))
            end = int(stops[-1])
    task.save_array(f"{path}.kept.documents.npy", kept.astype(numbering.dtype))
    return hashes


def _facts(numbering: Numbering, table: NDArray[np.void], hashes: dict[int, int]) -> NDArray[np.uint64]:
    """Returns what rows say, without numbers of documents, which another shard changes (n, 5)."""
    kept = table["kept"]
    of_shards = numbering.shards_of(kept)
    ids = np.array([hashes[number] for number in kept.tolist()], dtype=np.uint64)
    columns = (table["row"], table["score"], numbering.key_hashes[of_shards], numbering.rows_of(kept, of_shards), ids)
    return np.stack([column.astype(np.uint64) for column in columns], axis=1)
