"""The asset `guarded_clusters`: the clusters whose first document lies in a range, with their kept documents."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.found import Found
from corpus_assets.dedup.by_range.group import Corpus, Group
from corpus_assets.dedup.by_range.repeated import repeated_in_range
from corpus_assets.dedup.by_range.stored import (
    HASHES,
    MEMBERS,
    PAIRS,
    REPORT,
    ROWS,
    count_of,
    member_row,
    pair_row,
    rows_of,
)
from corpus_assets.dedup.shared import (
    KEPT_THRESHOLD,
    PAIR_THRESHOLD,
    numbering_of,
    range_number,
    ranges_of,
    require_numbering,
    save_numbering,
    save_starts,
    stored_scheme,
)
from corpus_assets.dedup.signatures.scheme import Sketched
from resources.spill import Buckets
from resources.stage.task import Task

_SHARE = 8
"""Rows of members that are in memory at once take an eighth of it, since they are copied as they are sorted."""

_MOST_BUCKETS = 1 << 16
TOGETHER = 20
"""Documents whose numbers differ only in so many lowest bits are sorted together."""


def guarded_clusters(task: Task) -> None:
    """Chooses the kept document of each cluster of a range, examines suspicious ones, and counts.

    Also counts the ids of the range of hashes that several files have.
    """
    numbering = numbering_of(task.inputs("normalized_documents"))
    members = task.inputs("cluster_members")
    require_numbering(numbering, members, ".shards.json")
    sketched, found = Sketched.read(task.inputs("minhashes").once(stored_scheme)), Found(numbering)
    path = f"guarded_clusters/{task.key}"
    kind = np.dtype([("cluster", numbering.dtype, (3,)), ("id", "<u8")])
    with Buckets((numbering.total >> TOGETHER) + 1, kind, task.memory // 8, task.scratch) as rows:
        for group in _groups(Corpus(task, numbering, sketched)):
            for block in group.settled(found):
                some = np.empty(len(block.members), kind)
                some["cluster"] = np.stack([block.members, block.kept, block.sizes], axis=1)
                some["id"] = block.ids
                rows.append((block.members >> numbering.dtype.type(TOGETHER)).astype(np.int64), some)
        starts = [0]
        with task.array(path + ROWS, numbering.dtype, (3,)) as out, task.array(path + HASHES, np.uint64) as hashes:
            for number in range(len(rows)):
                some = np.concatenate([np.empty(0, kind), *rows.rows(number)])
                some = some[np.argsort(some["cluster"][:, 0])]
                out.append(some["cluster"])
                hashes.append(some["id"])
                starts.append(starts[-1] + len(some))
    save_starts(task, starts)
    count = out.written.rows
    similarity = task.parameters.get(PAIR_THRESHOLD, task.parameters.get(KEPT_THRESHOLD, 1.0))
    compared = {"scheme": sketched.described(), "similarity": similarity}
    report = {**found.report(), **compared, "repeated": repeated_in_range(task, numbering)}
    task.save_json(path + REPORT, report, rows=len(report["worst"]["rows"]))
    save_numbering(task, f"{path}.shards.json", numbering)
    task.count(rows_in=count_of(members, MEMBERS, task.key), rows_out=count)


def _groups(corpus: Corpus) -> Iterator[Group]:
    """Yields the clusters in groups of neighbouring roots that fit in memory."""
    task, numbering = corpus.task, corpus.numbering
    start, stop = ranges_of(task, numbering).span(range_number(task.key))
    stored = task.inputs("cluster_members")
    pair = pair_row(numbering.dtype)
    row = member_row(numbering.dtype, task["dedup.keep"], corpus.sketched.bits // 64)
    share = max(task.memory // _SHARE, 1)
    needed = -(-count_of(stored, MEMBERS, task.key) * row.itemsize // share)
    count = min(max(needed, 1), _MOST_BUCKETS)
    width = max(-(-(stop - start) // count), 1)

    def bucket(roots: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.int64]:
        return (roots.astype(np.int64) - start) // width

    with (
        Buckets(count, row, share, task.scratch) as members,
        Buckets(count, pair, share, task.scratch) as pairs,
    ):
        for block in rows_of(stored, MEMBERS, task.key, row):
            members.append(bucket(block["root"]), block)
        for block in rows_of(stored, PAIRS, task.key, pair):
            pairs.append(bucket(block["root"]), block)
        for number in range(count):
            joined = np.concatenate([np.empty(0, pair), *pairs.rows(number)])
            held = np.concatenate([np.empty(0, row), *members.rows(number)])
            is_copy = joined["copies"] > 0
            yield Group(corpus, held, joined["pair"][is_copy], joined["pair"][~is_copy])
