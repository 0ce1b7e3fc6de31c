"""The asset `<dataset>_documents`: documents of a split, repeated by the weights of a dataset in HDF5."""

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.export.mixture import document_hash
from corpus_assets.export.weights.stored import StoredMix
from corpus_assets.mix.shuffle import in_order
from resources.documents.row_counts import SourcesOfRows
from resources.stage.partition import Partition
from resources.stage.shown_rows import show_rows
from resources.stage.task import Task

NOT_IN_MIXTURE = "not_in_mixture"


class _Named(msgspec.Struct):
    id: str
    source: str


_NAMED = msgspec.json.Decoder(_Named)


def weighted_documents(task: Task, path: str, split: Partition, mix: StoredMix) -> None:
    """Writes the lines of a chunk as often as their sources are used, and their row table; `copy` tells uses apart."""
    rows = split.array(".rows.npy")
    hashes = np.fromiter(_hashes(split, rows, mix.seed), np.uint64, len(rows))
    sources, numbers = np.unique(rows["source"], return_inverse=True)
    times = mix.times(split.key or "", hashes, [name.decode() for name in sources.tolist()], numbers)
    order = mix.order(hashes, times)
    kept = np.repeat(np.arange(len(rows)), times)
    lines = (line for line, count in zip(split.lines(), times.tolist(), strict=True) for _ in range(count))
    size = int(rows["bytes"][kept].sum(dtype=np.uint64))
    with task.lines(f"{path}.jsonl", indexed=True) as out:
        # Lines take more than their texts: metadata, and characters that are escaped.
        for line in in_order(lines, order, 2 * size, task.memory, task.scratch):
            out.write(line)
    written = rows[kept]
    uses = np.arange(len(kept)) - np.repeat(np.cumsum(times) - times, times)
    written["copy"] = written["copy"] * max(1, int(times.max(initial=1))) + uses
    task.save_array(f"{path}.rows.npy", np.ascontiguousarray(written[order]))
    if (left_out := times == 0).any():
        task.drop_by_source(NOT_IN_MIXTURE, SourcesOfRows(rows).counts(left_out))
        show_rows(task, split, NOT_IN_MIXTURE, left_out)
    task.count(by_source=SourcesOfRows(written).documents())
    task.count(rows_in=len(rows), rows_out=len(kept), repeats=len(kept) - int((times > 0).sum()), text_bytes=size)


def _hashes(split: Partition, rows: NDArray[np.void], seed: int) -> Iterator[int]:
    for line, copy in zip(split.lines(), rows["copy"].tolist(), strict=True):
        document = _NAMED.decode(line)
        yield document_hash(seed, document.source, document.id, copy)
