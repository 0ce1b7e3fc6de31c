"""The asset `benchmark_hits`: the occurrences of n-grams of benchmark items in the documents of a shard."""

import numpy as np

from corpus_assets.contamination.benchmark_ngrams import stored_index
from corpus_assets.contamination.search import Hits, Searcher
from resources.formats.arrays import ArrayWriter
from resources.stage.task import Task

COUNTS = "counts"
"""Segment with the number of documents of a shard that have each n-gram."""
_BLOCK = 1 << 14


def benchmark_hits(task: Task) -> None:
    """Writes every occurrence, document by document, and the number of documents in the shard with each n-gram."""
    index, rules = stored_index(task.input("benchmark_ngrams"))
    searcher = Searcher(index, rules)
    documents_of = np.zeros(len(index.keys), dtype=np.uint32)
    path = f"contamination/hits/{task.shard.source}/{task.shard.name}"
    touched, row, text_bytes = 0, -1, 0
    with task.array(f"{path}.hits.npy", np.uint32, (4,)) as out:
        block = _Block(out)
        for row, document in enumerate(task.input("normalized_documents").documents()):
            hits = searcher.find(document.text)
            text_bytes += len(document.text.encode())
            if len(hits):
                touched += 1
                documents_of[np.unique(hits[:, 2])] += 1
                block.add(row, hits)
        block.flush()
    ngrams = np.flatnonzero(documents_of)
    counts = np.stack([ngrams, documents_of[ngrams]], axis=1).astype(np.uint32)
    task.segments[COUNTS] = task.save_array(f"{path}.counts.npy", counts).digest
    task.count(rows_in=row + 1, rows_out=row + 1, hits=out.written.rows, documents_with_hits=touched)
    task.count(text_bytes=text_bytes)


class _Block:
    """Hits of documents, held until there are enough to write."""

    def __init__(self, out: ArrayWriter) -> None:
        self._out = out
        self._held: list[Hits] = []
        self._count = 0

    def add(self, row: int, hits: Hits) -> None:
        self._held.append(np.concatenate([np.full((len(hits), 1), row, dtype=np.uint32), hits], axis=1))
        self._count += len(hits)
        if self._count >= _BLOCK:
            self.flush()

    def flush(self) -> None:
        if self._held:
            self._out.append(np.concatenate(self._held))
        self._held, self._count = [], 0


def boilerplate_ngrams(task: Task) -> None:
    """Writes the numbers of n-grams that are in so many documents that they do not indicate a benchmark."""
    index, rules = stored_index(task.input("benchmark_ngrams"))
    total = np.zeros(len(index.keys), dtype=np.uint64)
    for shard in task.inputs("benchmark_hits"):
        counts = shard.array(".counts.npy")
        total[counts[:, 0]] += counts[:, 1]
    limit, limit_of_short = (task[f"contamination.{name}"] for name in ("document_limit", "short_item_documents"))
    limits = np.where(index.lengths < rules.shortest, min(limit, limit_of_short or limit), limit)
    muted = np.flatnonzero(total > limits).astype(np.uint32)
    task.save_array("contamination/boilerplate.npy", muted)
    task.count(rows_out=len(muted), ngrams_found=int(np.count_nonzero(total)), most_documents=int(total.max(initial=0)))
