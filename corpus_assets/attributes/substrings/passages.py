"""The asset `<name>_passages`: the texts of a shard cut into passages, and their different contents."""

import numpy as np

from corpus_assets.attributes.substrings.by_range import RANGES, content_row, save_contents
from corpus_assets.attributes.substrings.copies import ANSWER, Copies
from corpus_assets.attributes.substrings.repeated import PASSAGES
from corpus_assets.attributes.substrings.rule import gram_of, is_compared, powers
from corpus_assets.attributes.substrings.units import units_of
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.formats.jsonl.compressions import JSONL
from resources.stage.task import Task

RUN = np.dtype([("start", "<u4"), ("windows", "<u4"), ("repeats", "<u4")])
"""A passage: its first window in its text, its number of windows, and how often it stands, each time directly behind
the last."""


def passages(task: Task, rule: Substrings) -> None:
    """Writes the passages of each text of a shard, which are copies of others there, and the different ones by range.

    Nothing of a shard that is not compared.
    """
    from corpus_assets.attributes.substrings.kernels.passages import find_passages

    path = f"dedupers/{rule.name}/passages/{task.shard.source}/{task.shard.name}"
    length, documents = rule.length, task.input("normalized_documents")
    row = short = size = 0
    own = is_compared(task.shard, rule)
    none = rule.keep == "none"
    with (
        Copies(PASSAGES.words, length, task[RANGES], task.memory, task.scratch, both_ways=none) as copies,
        task.array(f"{path}.counts.npy", np.uint32) as counts,
        task.array(f"{path}.runs.npy", RUN) as runs,
    ):
        for texts in documents.texts() if own else ():
            units, bounds = units_of(texts, rule.unit)
            hashes, places, found = find_passages(units, bounds, length, gram_of(length), powers(length))
            starts, windows, repeats = places.T
            copies.add(hashes, row + np.repeat(np.arange(len(found)), found), starts, windows, repeats)
            table = np.empty(len(places), dtype=RUN)
            table["start"], table["windows"], table["repeats"] = starts, windows, repeats
            runs.append(table)
            counts.append(found.astype(np.uint32))
            row += len(found)
            short += int(np.count_nonzero(found == 0))
            size += int(bounds[-1])
        different = save_contents(task, path, copies, content_row(PASSAGES.words, counted=rule.boilerplate is not None))
        with task.array(f"{path}.answers.npy", ANSWER) as answers:
            for block in copies.answers():
                answers.append(block)
    rows = documents.file(JSONL).rows or 0
    left_out = {"short": short} if own else {"not_of_its_sources": rows}
    task.count(
        rows_in=rows, rows_out=copies.total, different=different, left_out={k: v for k, v in left_out.items() if v}
    )
    task.count(**{rule.unit: size})
