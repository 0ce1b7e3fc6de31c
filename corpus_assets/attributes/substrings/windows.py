"""The asset `<name>_windows`: windows of a shard that may be repeated inside different passages, and their contents."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.asked import asked_windows
from corpus_assets.attributes.substrings.by_range import RANGES, content_row, said_of, save_contents
from corpus_assets.attributes.substrings.copies import ANSWER, Copies
from corpus_assets.attributes.substrings.repeated import WINDOWS
from corpus_assets.attributes.substrings.rule import powers, says_type
from corpus_assets.attributes.substrings.units import units_of
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.formats.documents import decode_document
from resources.formats.jsonl.compressions import JSONL
from resources.formats.texts import joined
from resources.stage.task import Task

_BLOCK = 1 << 16
_AT_ONCE = 1 << 18
Columns = NDArray[np.int64]


class _Runs(NamedTuple):
    """Windows to compare: rows of their documents, the first window of each run, and their number (n,)."""

    rows: Columns
    starts: Columns
    counts: Columns


def windows(task: Task, rule: Substrings) -> None:
    """Writes which windows of a shard's passages are copies of others there, and the different ones by range."""
    path = f"dedupers/{rule.name}/windows/{task.shard.source}/{task.shard.name}"
    none = rule.keep == "none"
    with Copies(WINDOWS.words, rule.length, task[RANGES], task.memory, task.scratch, both_ways=none) as copies:
        for row, starts, hashes in _hashed(task, rule):
            ones = np.ones(len(starts), dtype=np.int64)
            copies.add(hashes, np.full(len(starts), row), starts, ones, ones)
        different = save_contents(task, path, copies, content_row(WINDOWS.words, counted=rule.boilerplate is not None))
        with task.array(f"{path}.answers.npy", ANSWER) as answers:
            for block in copies.answers():
                answers.append(block)
    rows_in = task.input(f"{rule.name}_passages").file(".runs.npy").rows
    task.count(rows_in=rows_in, rows_out=copies.total, different=different)


def _hashed(task: Task, rule: Substrings) -> Iterator[tuple[int, Columns, NDArray[np.uint64]]]:
    """Yields windows to compare in their order, some of one document at a time: its row, their starts and hashes."""
    from corpus_assets.attributes.substrings.kernels.passages import hash_windows

    documents = task.input("normalized_documents")
    shard = task.input(f"{rule.name}_passages")
    says = said_of(shard, task.inputs(f"{rule.name}_repeated_passages"), says_type(rule))
    chosen = np.zeros(documents.file(JSONL).rows or 0, dtype=np.bool_)
    for runs in _runs(task, rule, says):
        chosen[runs.rows] = True
    lines, rows, row = documents.chosen_lines(chosen), iter(np.flatnonzero(chosen).tolist()), -1
    for runs in _runs(task, rule, says):
        begins = np.flatnonzero(np.concatenate([[True], runs.rows[1:] != runs.rows[:-1]]))
        for first, last in zip(begins.tolist(), [*begins[1:].tolist(), len(runs.rows)], strict=True):
            if runs.rows[first] != row:
                row, line = next(rows), next(lines)
                text = decode_document(line).text.encode("utf-8", "surrogatepass")
                units = units_of(joined([text]), rule.unit).units
            for starts, counts in _cut(runs.starts[first:last], runs.counts[first:last]):
                places = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
                yield row, places, hash_windows(units, starts, counts, rule.length, powers(rule.length))


def _cut(starts: Columns, counts: Columns) -> Iterator[tuple[Columns, Columns]]:
    """Yields runs with at most so many windows together that they fit in memory."""
    if counts.sum() <= _AT_ONCE:
        yield starts, counts
        return
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        for done in range(0, count, _AT_ONCE):
            yield np.array([start + done]), np.array([min(_AT_ONCE, count - done)])


def _runs(task: Task, rule: Substrings, says: NDArray[Any]) -> Iterator[_Runs]:
    """Yields the windows to compare in blocks, none empty. says: what ranges say of the shard's passages."""
    shard = task.input(f"{rule.name}_passages")
    counts, runs, answers = (shard.array(f".{name}.npy") for name in ("counts", "runs", "answers"))
    ends = np.cumsum(counts, dtype=np.int64)
    for first in range(0, len(runs), _BLOCK):
        part, of = runs[first : first + _BLOCK], answers[first : first + _BLOCK]
        asked = asked_windows(part, of, says[of["number"]], rule)
        chosen = np.flatnonzero(asked.asked)
        if len(chosen):
            starts = part["start"][chosen] + asked.first[chosen]
            yield _Runs(np.searchsorted(ends, chosen + first, side="right"), starts, asked.asked[chosen])
