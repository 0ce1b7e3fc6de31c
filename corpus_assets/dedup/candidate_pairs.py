"""The asset `candidate_pairs`: the pairs of all bands, each once, of one range of later documents, with a sketch."""

from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.shared import (
    SKETCHED,
    numbering_of,
    range_number,
    ranges_of,
    require_numbering,
    rows_of_range,
    save_by_range,
    save_numbering,
    segment_rows,
    sketches_of,
)
from corpus_assets.dedup.similarity.sketch_join import range_rows, row_type, with_sketches
from resources.spill import Buckets
from resources.stage.task import Task


def candidate_pairs(task: Task) -> None:
    """Writes the different pairs of a range of later documents, each with the sketch of its later document.

    Each range of first documents is a segment, so that its partition of `verified_pairs` needs only the sketches of its
    own documents.
    """
    bands, numbering = task.inputs("duplicate_pairs"), numbering_of(task.inputs("minhashes"), ".sketch.npy")
    require_numbering(numbering, bands, ".shards.json")
    sketches, sketched = sketches_of(task, numbering)
    ranges, spill = ranges_of(task, numbering), task.scratch
    row = row_type(numbering.total, sketched.bits // 64 if task[SKETCHED] else 0)
    span, at_once = ranges.span(range_number(task.key)), range_rows(sketched.bits)
    blocks = segment_rows(bands, ".npy", task.key, (numbering.dtype, (2,)))
    unique = unique_pairs(blocks, numbering.total, at_once, memory=task.memory // 2, spill=spill, span=span)
    with Buckets(ranges.count, row, task.memory // 4, spill) as rows:
        for some in with_sketches(unique, sketches.rows, span, range_rows=at_once, row=row):
            rows.append(ranges.of(some["pair"][:, 0]), some)
        count = save_by_range(task, f"candidate_pairs/{task.key}.npy", rows, row)
    save_numbering(task, f"candidate_pairs/{task.key}.shards.json", numbering)
    given = rows_of_range(bands, task.key)
    task.count(rows_in=given, rows_out=count, found_again=given - count)
