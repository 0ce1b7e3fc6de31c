"""The asset `cluster_members`: of the documents of one range, what is to be known of those in clusters."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.stored import (
    FACTS,
    ID,
    IDS,
    MEMBERS,
    PAIRS,
    alone,
    member_row,
    pair_row,
    save_rows,
    save_segments,
)
from corpus_assets.dedup.clusters.keep import deciding
from corpus_assets.dedup.clusters.kept_ids import IdTables, ids_of
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents, Edges, Numbering
from corpus_assets.dedup.documents.ranges import DocumentRanges
from corpus_assets.dedup.shared import (
    blocks_of,
    numbering_of,
    range_number,
    ranges_of,
    require_numbering,
    save_numbering,
    sketches_of,
)
from resources.formats.row_tables import TEXT
from resources.spill import Buckets
from resources.stage.task import Task

DOCUMENTS, ENDS, NAMES = ".documents.npy", ".ends.npy", ".names.npy"
"""Suffixes: the members of clusters, where the id of each ends, and the ids."""


def cluster_members(task: Task) -> None:
    """Writes the members of clusters of a range of documents, by range of the first document of the cluster.

    Beside each its sketch, a hash of its id, and what the rules of `dedup.keep` compare. Also their ids; the pairs that
    begin in the range; and the hashes of the ids of all documents whose source has several files, by
    range of hash.
    """
    numbering = numbering_of(task.inputs("normalized_documents"))
    require_numbering(numbering, task.inputs("cluster_roots"), "shards.json")
    ranges, path = ranges_of(task, numbering), f"cluster_members/{task.key}"
    start, stop = ranges.span(range_number(task.key))
    roots = task.input("cluster_roots").array(".npy")[start:stop]
    count = _save_members(task, numbering, ranges, roots)
    with Buckets(ranges.count, pair_row(numbering.dtype), task.memory // 4, task.scratch) as pairs:
        for block, copies in _pairs(task, start, stop):
            rows = np.empty(len(block), pairs.dtype)
            rows["root"], rows["pair"], rows["copies"] = roots[block[:, 0] - block.dtype.type(start)], block, copies
            pairs.append(ranges.of(rows["root"]).astype(np.int64), rows)
        save_rows(task, PAIRS, path, pairs)
    save_segments(task, ranges.count)
    save_numbering(task, f"{path}.shards.json", numbering)
    task.count(rows_in=stop - start, rows_out=count)


def _save_members(task: Task, numbering: Numbering, ranges: DocumentRanges, roots: Documents) -> int:
    """Writes members and ids of a range of documents; returns the number of members. roots: of its documents."""
    path, words = f"cluster_members/{task.key}", sketches_of(task, numbering)[1].bits // 64
    row, nobody = member_row(numbering.dtype, task["dedup.keep"], words), alone(numbering.dtype)
    first, end = ranges.span(range_number(task.key))[0], 0
    with (
        Buckets(ranges.count, row, task.memory // 4, task.scratch) as members,
        Buckets(ranges.count, ID, task.memory // 8, task.scratch) as ids,
        task.array(path + DOCUMENTS, numbering.dtype) as documents,
        task.array(path + ENDS, np.uint64) as ends,
        task.array(path + NAMES, np.uint8) as names,
    ):
        for block in blocks_of(roots):
            numbers, first = np.arange(first, first + len(block), dtype=numbering.dtype), first + len(block)
            named = _named(task, numbering, numbers, block != nobody, ids)
            rows = _rows(task, numbering, row, numbers[block != nobody])
            rows["root"], rows["id"] = block[block != nobody], named.hashes
            members.append(ranges.of(rows["root"]).astype(np.int64), rows)
            documents.append(rows["member"])
            ends.append(np.cumsum(named.sizes, dtype=np.uint64) + np.uint64(end))
            names.append(np.frombuffer(named.characters, dtype=np.uint8))
            end += len(named.characters)
        count = save_rows(task, MEMBERS, path, members)
        save_rows(task, IDS, path, ids)
    return count


def _pairs(task: Task, start: int, stop: int) -> Iterator[tuple[Edges, bool]]:
    """Yields the pairs whose first documents lie in the range, in blocks, and whether they are of equal texts."""
    for block in blocks_of(task.input("verified_pairs").array(".npy")):
        yield block, False
    for found in task.inputs("exact_duplicates"):
        for block in blocks_of(found.array(".npy")):
            yield block[(start <= block[:, 0]) & (block[:, 0] < stop)], True


def _rows(task: Task, numbering: Numbering, row: np.dtype[Any], members: Documents) -> NDArray[Any]:
    """Returns rows of these members (ascending) with what is looked up for them."""
    documents = task.inputs("normalized_documents")
    rows = np.empty(len(members), row)
    rows["member"] = members
    rows["sketch"] = sketches_of(task, numbering)[0].take(members).view("<u8")
    columns = [FACTS[rule][0] for rule in deciding(task["dedup.keep"]) if rule in FACTS]
    if columns:
        texts = Column(numbering, lambda position: documents[position].array(".texts.npy"), np.empty(0, TEXT))
        found = texts.take(members)
        for column in columns:
            rows[column] = found[column]
    return rows


class _Named:
    """The ids of members, one after the other: bytes and hash of each."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.characters = bytearray()
        self._hashes = [np.empty(0, np.uint64)]

    def add(self, ids: list[bytes | memoryview], hashes: NDArray[np.uint64]) -> None:
        self.sizes += map(len, ids)
        self.characters += b"".join(ids)
        self._hashes.append(hashes)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        return np.concatenate(self._hashes)


def _named(task: Task, numbering: Numbering, block: Documents, is_member: NDArray[np.bool_], ids: Buckets) -> _Named:
    """Returns the ids of the members; adds to `ids` those of all documents whose source has several files."""
    shared, named = _of_several_files(numbering), _Named()
    asked = block[is_member | shared[numbering.shards_of(block)]]
    for ours, found, hashes in ids_of(numbering, asked, _id_tables(task)):
        position = int(numbering.shards_of(ours[:1])[0])
        if shared[position]:
            rows = np.empty(len(ours), ID)
            rows["hash"], rows["shard"] = hashes, position
            ids.append(_range_of(hashes, len(ids)), rows)
        chosen = np.flatnonzero(is_member[ours - block[0]])
        named.add([found[place] for place in chosen.tolist()], hashes[chosen])
    return named


def _id_tables(task: Task) -> IdTables:
    """Returns a function that opens the ids of a shard."""
    documents = task.inputs("normalized_documents")
    return lambda position: (
        documents[position].array(".texts.npy")["id_end"],
        documents[position].array(".ids.npy"),
    )


def _of_several_files(numbering: Numbering) -> NDArray[np.bool_]:
    """Returns for each shard whether its source has others."""
    _, places, counts = np.unique(np.array(numbering.sources), return_inverse=True, return_counts=True)
    several: NDArray[np.bool_] = (counts > 1)[places]
    return several


def _range_of(hashes: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Returns the range of each hash, out of at most 2^16."""
    return ((hashes >> np.uint64(48)) * np.uint64(count) >> np.uint64(16)).astype(np.int64)
