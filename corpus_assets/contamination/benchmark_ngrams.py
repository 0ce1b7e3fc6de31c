"""The asset `benchmark_ngrams`: the index of all benchmark items."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names
from corpus_assets.contamination.index import BYTES_PER_WORD, MOST_WORDS, Index, Rules, build_index, word_hashes
from corpus_assets.contamination.items import ItemRow, encode_item, with_search
from resources.errors import ConfigError
from resources.formats.examples import decode_example
from resources.hashing import value_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

NGRAMS = "ngrams"
"""Segment of the index that the search depends on; names and ids of items are not in it."""
SETS = "names of benchmarks"
FEWEST = "fewest words of an item"
"""Parameter that follows from `contamination.short_item_documents`."""
_PATH = "contamination/index"


def rules_of(task: Task) -> Rules:
    """Returns the configured rules of n-grams."""
    keys = ("words", "shortest_item", "punctuation", "item_limit", "item_share")
    given = (task[f"contamination.{key}"] for key in keys)
    return Rules(*given)._replace(fewest=task[FEWEST], numbers=task["contamination.numbers"])


def benchmark_ngrams(task: Task) -> None:
    """Numbers the n-grams of all items; writes their places, and the table of items."""
    rules = rules_of(task)
    rows: list[ItemRow] = []
    hashes: list[NDArray[np.uint64]] = []
    words = 0
    for row, found in _items(task, rules):
        rows.append(row)
        hashes.append(found)
        words += len(found)
        _require_room(task, words)
    places = {name: place for place, name in enumerate(task[SETS])}
    index, templates = build_index(hashes, rules, [places[row.set] for row in rows])
    saved = [task.save_array(f"{_PATH}.{name}.npy", array).digest for name, array in index._asdict().items()]
    scheme = rules._asdict()
    del scheme["item_share"]  # Only the arrays count: documents are searched again only if these differ.
    task.save_json(f"{_PATH}.rules.json", scheme, rows=1)
    searched = dict.fromkeys(("ngrams", "whole", "too_short", "template"), 0)
    with task.lines("contamination/items.jsonl") as out:
        for row in with_search(rows, index, rules):
            out.write(encode_item(row))
            searched[row.search] += 1
    task.segments[NGRAMS] = value_digest([scheme, saved[:4]])
    counts = {f"items_{name}": count for name, count in searched.items()}
    task.count(rows_in=len(rows), rows_out=len(rows), words=words, ngrams=len(index.keys), **counts)
    task.count(template_ngrams=templates)


def _items(task: Task, rules: Rules) -> Iterator[tuple[ItemRow, NDArray[np.uint64]]]:
    """Yields every item and the hashes of its words, set by set."""
    for name in task[SETS]:
        number = 0
        for file in task.inputs(dataset_names.items(name)):
            for line in file.lines():
                item = decode_example(line)
                hashes, _, _ = word_hashes(item.text or "", rules.punctuation, rules.numbers)
                yield ItemRow(name, number, item.id, len(hashes)), hashes
                number += 1


def _require_room(task: Task, words: int) -> None:
    if words > min(task.memory // BYTES_PER_WORD, MOST_WORDS):
        needed = words * BYTES_PER_WORD >> 20
        raise ConfigError(
            f"benchmarks: the items have more than {words:,} words, of which an index needs more than {needed:,} MiB; "
            f"valid: a larger engine.memory than {task.memory >> 20:,} MiB (for up to {MOST_WORDS:,} words), or "
            "fewer items"
        )


def stored_index(partition: Partition) -> tuple[Index, Rules]:
    """Returns the index, as mapped files, and the rules that it was made with."""
    arrays = (np.asarray(partition.array(f".{name}.npy")) for name in Index._fields)
    return Index(*arrays), Rules(**partition.json(".rules.json"))
