"""The asset `verified_pairs`: the candidates of one range of first documents that are similar enough."""

from collections.abc import Callable, Iterator

import numpy as np

from corpus_assets.dedup.documents.numbering import Edges, Numbering
from corpus_assets.dedup.shared import (
    SKETCHED,
    numbering_of,
    range_number,
    ranges_of,
    require_numbering,
    rows_of_range,
    save_numbering,
    segment_rows,
    sketches_of,
    texts_of,
)
from corpus_assets.dedup.similarity.check import Verification
from corpus_assets.dedup.similarity.sketch_join import compared, range_rows, row_type
from corpus_assets.dedup.templates.reading import templates_of
from resources.stage.partitions import Partitions
from resources.stage.task import Task


def verified_pairs(task: Task) -> None:
    """Writes the pairs whose first documents lie in a range and whose documents are similar enough."""
    candidates, numbering = task.inputs("candidate_pairs"), numbering_of(task.inputs("minhashes"), ".sketch.npy")
    require_numbering(numbering, candidates, ".shards.json")
    by_text: list[int] = []
    with task.array(f"verified_pairs/{task.key}.npy", numbering.dtype, (2,)) as out:
        for pairs in _checked(task, candidates, numbering, by_text.append):
            out.append(pairs)
    save_numbering(task, f"verified_pairs/{task.key}.shards.json", numbering)
    given, count = rows_of_range(candidates, task.key), out.written.rows
    task.count(rows_in=given, rows_out=count, candidates=given, pairs=count, not_similar=given - count)
    task.count(compared_by_text=sum(by_text))


def _checked(
    task: Task, candidates: Partitions, numbering: Numbering, on_by_text: Callable[[int], None]
) -> Iterator[Edges]:
    """Yields the verified pairs; calls `on_by_text` with the numbers of pairs whose texts are compared."""
    sketches, sketched = sketches_of(task, numbering)
    row = row_type(numbering.total, sketched.bits // 64 if task[SKETCHED] else 0)
    rows = segment_rows(candidates, ".npy", task.key, row)
    if task["dedup.verify"] == "none":
        return (np.ascontiguousarray(block["pair"]) for block in rows)
    check = Verification(
        total=numbering.total,
        texts=lambda bitmap: texts_of(task.inputs("normalized_documents"), numbering, bitmap),
        bits=sketched.bits,
        scheme=sketched.scheme,
        threshold=task["dedup.threshold"],
        memory=task.memory,
        spill=task.scratch,
        on_by_text=on_by_text,
        template=templates_of(task, numbering),
    )
    span = ranges_of(task, numbering).span(range_number(task.key))
    at_once, half = range_rows(sketched.bits), task.memory // 2
    found = compared(rows, sketches.rows, span, range_rows=at_once, row=row, memory=half, spill=task.scratch)
    return check.pairs(found, task["dedup.verify"])
