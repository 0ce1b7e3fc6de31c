"""The asset `<name>_ngrams`: the words of a shard, and how often it has which n-grams."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.taggers.labels.perplexity import pieces_of
from corpus_assets.language_models.grams import BEGIN_HASH, END_HASH, NOTHING, Words, summed, table, word_hash
from corpus_assets.language_models.tokens import Split, lines_of, split_pieces, split_words
from resources.outside_files import OutsideFile, require_digest
from resources.stage.task import Task

LEARNED: Final = "learned"
GRAMS, WORDS = ".grams.npy", ".words.jsonl"
_BLOCK = 1 << 20
"""n-grams counted together, and words known at once; if there are more, equal ones have several rows."""


def ngrams(task: Task, name: str) -> None:
    """Writes the n-grams of a shard with counts, and its words; nothing for a source that is not learned from."""
    order: int = task[f"language_models.{name}.order"]
    path = f"language_models/{name}/{task.shard.source}/{task.shard.name}"
    rows = used = tokens = 0
    known: dict[str, int] = {}
    with task.lines(f"{path}{WORDS}") as words, task.array(f"{path}{GRAMS}", table(order, count="<u8")) as out:
        counter = Counter(order)
        split = _split(task) if task.parameters[LEARNED] else None
        for document in task.input("normalized_documents").documents() if split else ():
            rows += 1
            used += 1
            for line in lines_of(document.text, split or split_words):
                tokens += len(line) + 1
                for word in line:
                    if word not in known:
                        if len(known) == _BLOCK:
                            known.clear()
                        known[word] = word_hash(word)
                        words.write(msgspec.json.encode(word) + b"\n")
                for block in counter.add([known.get(word) or word_hash(word) for word in line]):
                    out.append(block)
        for block in counter.rest():
            out.append(block)
    task.count(rows_in=rows, rows_out=used, tokens=tokens)


def _split(task: Task) -> Split:
    """Returns the function that splits lines; `CorpusError` if the tokenizer changed since the plan."""
    given = task.run_options["tokenizer"]
    if given is None:
        return split_words
    require_digest(given["place"], [given["path"]], task.parameters[given["digest"]])
    return split_pieces(pieces_of([OutsideFile(given["path"])]))


class Counter:
    """Counts the n-grams of lines, block by block.

    Of a line between its begin and its end, these are all n-grams of `order` words, and those with fewer words from its
    begin on, with 0 before them.
    """

    def __init__(self, order: int) -> None:
        self._order = order
        self._ids: list[int] = []
        self._lengths: list[int] = []

    def add(self, line: list[int]) -> Iterator[NDArray[Any]]:
        """Adds a line; yields a block of counted n-grams if it is full."""
        self._ids += [BEGIN_HASH, *line, END_HASH]
        self._lengths.append(len(line) + 2)
        if len(self._ids) >= _BLOCK:
            yield from self.rest()

    def rest(self) -> Iterator[NDArray[Any]]:
        """Yields the counted n-grams of what was added since the last block."""
        if not self._ids:
            return
        words, counts = summed(*_windows(self._ids, self._lengths, self._order))
        found = np.empty(len(words), table(self._order, count="<u8"))
        found["words"], found["count"] = words, counts
        self._ids.clear()
        self._lengths.clear()
        yield found


def _windows(ids: list[int], lengths: list[int], order: int) -> tuple[Words, NDArray[np.uint64]]:
    """Returns for each word of each line but the first the n-gram that ends with it, with 0 before the line's begin."""
    line, sizes = np.array(ids, np.uint64), np.array(lengths)
    ends = np.cumsum(sizes)
    place = np.arange(len(line)) - np.repeat(ends - sizes, sizes)
    found = np.full((len(line), order), NOTHING, np.uint64)
    for back in range(order):
        there = np.flatnonzero(place >= back)
        found[there, order - 1 - back] = line[there - back]
    found = found[place > 0]
    return found, np.ones(len(found), np.uint64)
