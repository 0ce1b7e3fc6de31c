"""The assets `<name>_repeated_passages` and `<name>_repeated_windows`: what a range knows of the contents of shards."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.by_range import RANGES, content_row, contents_of, rows_of, save_says
from corpus_assets.attributes.substrings.copies import concatenated
from corpus_assets.attributes.substrings.hashed import bucket_of, in_groups
from corpus_assets.attributes.substrings.rule import (
    BOILERPLATE,
    DOCUMENTS_SHIFT,
    REPEATED,
    SEVERAL,
    says_type,
)
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.spill import Buckets
from resources.stage.partitions import Partitions
from resources.stage.task import Task

_BYTES_PER_ROW = 256
_BUCKETS = 1 << 10
_RESIDUE_BITS = np.uint64(3)
_MOST = (1 << (32 - DOCUMENTS_SHIFT)) - 1


class _Kind(NamedTuple):
    """Contents: passages have three words, of which the first is of their k-gram; windows have two."""

    name: str
    words: int


PASSAGES, WINDOWS = _Kind("passages", 3), _Kind("windows", 2)


def repeated(task: Task, rule: Substrings, kind: _Kind) -> None:
    """Writes for each content of a range, shard by shard, what `rule.py` lists of it.

    Memory: a byte for each content of the range (4 with boilerplate), beside the working set.
    """
    shards, row = task.inputs(f"{rule.name}_{kind.name}"), content_row(kind.words, counted=rule.boilerplate is not None)
    counts = rows_of(shards, task.key)
    says = np.zeros(sum(counts), dtype=says_type(rule))
    with _scattered(task, shards, row) as rows:
        for part, several in _parts(rows, kind.words, task):
            _judge(part, rule, several, says)
    save_says(task, f"dedupers/{rule.name}/{kind.name}/{task.key}", shards, says)
    found = int(np.count_nonzero(says & REPEATED))
    task.count(rows_in=len(says), rows_out=len(says), repeated=found)


def _scattered(task: Task, shards: Partitions, row: np.dtype[Any]) -> Buckets:
    """Returns the contents of all shards in buckets by hash, each with its place among all."""
    ranges, number = task[RANGES], int(task.key.removeprefix("range-"))
    placed = np.dtype([("content", row), ("place", "<u8")])
    rows = Buckets(_BUCKETS, placed, task.memory // 4, task.scratch)
    place = 0
    for blocks in contents_of(shards, task.key, row):
        for block in blocks:
            found = np.empty(len(block), dtype=placed)
            found["content"], found["place"] = block, np.arange(place, place + len(block))
            rows.append(bucket_of(block["hash"][:, 0], ranges * _BUCKETS) - number * _BUCKETS, found)
            place += len(block)
    return rows


def _parts(rows: Buckets, words: int, task: Task) -> Iterator[tuple[NDArray[np.void], NDArray[np.bool_]]]:
    """Yields rows that are judged together, and which of them have a k-gram that others have too."""
    limit = max(task.memory // 2 // _BYTES_PER_ROW, 1)
    held: list[NDArray[np.void]] = []
    for number in range(len(rows)):
        if rows.size(number) > limit:
            yield from _of_large(rows, number, words, task)
            continue
        if sum(map(len, held)) + rows.size(number) > limit:
            yield _with_several(held, words, rows.dtype)
            held = []
        held += rows.rows(number)
    yield _with_several(held, words, rows.dtype)


def _with_several(
    held: list[NDArray[np.void]], words: int, dtype: np.dtype[Any]
) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    rows = concatenated(held, dtype)
    hashes = rows["content"]["hash"]
    grams = _several([hashes], words)
    return rows, np.isin(hashes[:, 0], grams) if len(grams) else np.zeros(len(rows), dtype=np.bool_)


def _of_large(
    rows: Buckets, number: int, words: int, task: Task
) -> Iterator[tuple[NDArray[np.void], NDArray[np.bool_]]]:
    """Does the same for a bucket beyond memory, which one k-gram before millions of continuations can fill."""
    grams = _several((block["content"]["hash"] for block in rows.rows(number)), words)
    with Buckets(_BUCKETS, rows.dtype, task.memory // 4, task.scratch) as finer:
        for block in rows.rows(number):
            finer.append(bucket_of(block["content"]["hash"][:, -1] << _RESIDUE_BITS, _BUCKETS), block)
        for place in range(_BUCKETS):
            part = concatenated(finer.rows(place), rows.dtype)
            yield part, np.isin(part["content"]["hash"][:, 0], grams)


def _several(blocks: Iterable[NDArray[np.uint64]], words: int) -> NDArray[np.uint64]:
    """Returns the k-grams of different passages, ascending; none of windows. blocks: of hashes (n, words)."""
    known = np.empty((0, 3), dtype=np.uint64)
    for hashes in blocks if words == PASSAGES.words else ():
        # Of each k-gram the least and the largest last word: if these differ, so do passages.
        rows = np.concatenate([known, hashes[:, [0, 2, 2]]])
        order = np.argsort(rows[:, 0], kind="stable")
        rows = rows[order]
        firsts = np.flatnonzero(np.concatenate([[len(rows) > 0], rows[1:, 0] != rows[:-1, 0]]))
        if len(firsts):
            least, largest = np.minimum.reduceat(rows[:, 1], firsts), np.maximum.reduceat(rows[:, 2], firsts)
            known = np.stack([rows[firsts, 0], least, largest], axis=1)
    found: NDArray[np.uint64] = known[known[:, 1] != known[:, 2], 0]
    return found


def _judge(rows: NDArray[np.void], rule: Substrings, several: NDArray[np.bool_], says: NDArray[Any]) -> None:
    """Sets what is said of some rows, which have all copies of their contents."""
    contents = rows["content"]
    order, firsts = in_groups(contents["hash"])
    if not len(order):
        return
    sizes = np.diff(np.append(firsts, len(order)))
    found = np.full(len(order), REPEATED, dtype=np.int64)
    found[firsts] = REPEATED * (sizes > 1) if rule.keep == "none" else 0
    found |= SEVERAL * several[order]
    if rule.boilerplate is not None:
        documents = np.add.reduceat(contents["documents"][order].astype(np.int64), firsts)
        common = documents > rule.boilerplate
        found |= np.repeat(BOILERPLATE * common, sizes)
        found[firsts] |= np.where(common, np.minimum(documents, _MOST), 0) << DOCUMENTS_SHIFT
    says[rows["place"][order].astype(np.int64)] = found.astype(says.dtype)
