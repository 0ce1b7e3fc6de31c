"""The asset `<name>_hashes`: the parts of one shard that a deduper compares, and their hashes."""

import numpy as np

from corpus_assets.attributes.dedupers.distinct import RANGES, Distinct
from corpus_assets.attributes.dedupers.parts import PART, parts_of
from corpus_assets.attributes.dedupers.subjects import BLOCK_CHARACTERS, PARTS, blocks
from corpus_assets.config.selection.dedupers import Deduper
from resources.documents.looked_for import LookedFor, numbers_of
from resources.formats.jsonl.compressions import JSONL
from resources.shards.listing import Shard
from resources.stage.task import Task

HASHES = "hashes"
"""Segment of a partition: the different hashes alone."""

BYTES_PER_CHARACTER = 128
"""Most bytes of memory for the parts of one code point."""


def is_marked(shard: Shard, rule: Deduper) -> bool:
    """Returns whether an entry marks repetitions in the documents of a shard."""
    return shard.is_among(rule.sources, rule.glob)


def is_compared(shard: Shard, rule: Deduper) -> bool:
    """Returns whether the hashes of a shard's documents are needed, to be marked or compared with."""
    return is_marked(shard, rule) or shard.source in (rule.against or ())


def hashes(task: Task, rule: Deduper) -> None:
    """Writes the compared parts of a shard, which of them repeat earlier ones there, and their different hashes.

    Nothing for a shard that is not compared. All hashes if it is compared with other sources, since repetitions within
    the shard do not count then.
    """
    path = f"dedupers/{rule.name}/{task.shard.source}/{task.shard.name}"
    left_out: dict[str, int] = {}
    always = rule.by in ("text", "id", *PARTS)
    looked_for = LookedFor("documents", {} if always else {f"dedupers.{rule.name}.by": [rule.by]})
    size = min(BLOCK_CHARACTERS, max(1, task.memory // 4 // BYTES_PER_CHARACTER))
    with Distinct(task.memory, task.scratch, every=rule.against is not None) as distinct:
        with task.array(f"{path}.parts.npy", PART) as parts:
            documents = task.input("normalized_documents").documents() if is_compared(task.shard, rule) else ()
            for block in blocks(documents, rule.by, size, looked_for if looked_for.wants_any else None):
                found = parts_of(block, rule)
                parts.append(found.parts)
                distinct.add(found.hashes)
                left_out = {reason: left_out.get(reason, 0) + count for reason, count in found.left_out.items()}
        with (
            task.array(f"{path}.places.npy", np.uint64) as places,
            task.array(f"{path}.hashes.npy", np.uint64, (2,)) as out,
        ):
            for different, firsts in distinct.blocks():
                out.append(different)
                places.append(firsts)
    task.segments[HASHES] = out.written.digest
    task.save_array(f"{path}.again.npy", distinct.again)
    if out.written.rows > RANGES:  # Searching fewer takes no longer than reading the table.
        task.save_array(f"{path}.starts.npy", distinct.starts, derived=True)
    rows = task.input("normalized_documents").file(JSONL).rows
    if not is_compared(task.shard, rule):
        left_out["not_of_its_sources"] = rows or 0
    task.count(rows_in=rows, rows_out=parts.written.rows, hashes=distinct.total)
    if rule.against is None:
        task.count(different=out.written.rows)
    task.count(left_out={reason: count for reason, count in left_out.items() if count}, **numbers_of(looked_for))
