"""The assets `<dataset>_sequences` and `<dataset>_tokens` of a shuffled dataset.

Sequences are the rows of every partition in the order of their keys; token files are ranges of keys.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
import xxhash
from numpy.typing import NDArray

from corpus_assets.tokenize.rows.shuffle import Run, gather, held_rows, key_range, row_keys, run_bounds, sorted_rows
from corpus_assets.tokenize.tokens import Block, DatasetBuild, files_in_order, make_rows, write_rows
from resources.formats.hdf5.chunks import StoredBlock, inflated_blocks, rows_in_chunk
from resources.hashing import content_digest
from resources.stage.task import Task

ALL_FILES = "packed-over-files"
"""Name of the sequences of a dataset whose packing carries over from file to file."""

ROWS_BYTES = 1 << 20
"""Bytes of rows in order at once: few enough that all that is done with them finds them in the cache."""


def sequences(task: Task, build: DatasetBuild, source: str, files: Sequence[str], name: str) -> None:
    """Tokenizes the input of `source` into a file of rows in the order of their shuffle keys, and the keys.

    files: partitions of the shuffled dataset; each takes one range of the keys, which is a segment here. name: of the
    partition, or of all files if packing carries over.
    """
    given = files_in_order(task.inputs(source))
    digests = [one.record.digest for one in given]
    made_of = digests[0] if len(digests) == 1 else content_digest(*(digest.encode() for digest in digests))
    path = f"sequences/{build.name}/{name}"

    def write(streams: Iterator[Iterator[Block]]) -> None:
        blocks = held_rows(chain.from_iterable(streams), task.memory // 8, task.scratch)
        keys = row_keys(build.options["shuffle_seed"], build.name, name, sum(map(len, blocks)))
        ordered = np.sort(keys)
        runs = _Runs(run_bounds(ordered, len(files)))
        write_rows(task, build, f"{path}.h5", map(runs.seen, sorted_rows(blocks, keys, ROWS_BYTES)), made_of)
        task.save_array(f"{path}.keys.npy", ordered)
        task.segments |= dict(zip(files, runs.digests(), strict=True))

    make_rows(task, build, given, write, path)


def gathered(task: Task, build: DatasetBuild, source: str, file: int, files: int) -> None:
    """One file of a shuffled dataset: its range of keys from every partition of `source`, in the order of the keys."""
    sequences_of_all = task.inputs(source)
    low, high = key_range(file, files)
    shape = (build.mode.layout.channels, build.length)
    limit_rows = max(1, task.memory // 4 // (4 * math.prod(shape)))
    keys = [rows.array(".keys.npy") for rows in sequences_of_all]
    blocks: Iterable[Block | StoredBlock]
    if rows_in_chunk(shape) == 1:
        chunks = [Run(of_one, rows.token_row_chunks) for of_one, rows in zip(keys, sequences_of_all, strict=True)]
        blocks = inflated_blocks((block.tolist() for block in gather(chunks, low, high, limit_rows)), shape)
    else:
        runs = [Run(of_one, rows.token_rows) for of_one, rows in zip(keys, sequences_of_all, strict=True)]
        blocks = gather(runs, low, high, limit_rows)
    given = content_digest(*(rows.record.digest_of(task.key).encode() for rows in sequences_of_all))
    count = write_rows(task, build, f"tokens/{build.name}/{task.key}.h5", blocks, given)
    task.count(rows_in=count, rows_out=count)


class _Runs:
    """Digests the runs of passing rows, one per file of the shuffled dataset."""

    def __init__(self, bounds: NDArray[np.int64]) -> None:
        self._bounds = bounds
        self._hashers = [xxhash.xxh3_128() for _ in bounds[1:]]
        self._row = 0

    def seen(self, block: Block) -> Block:
        """Returns the same block."""
        for hasher, first, end in zip(self._hashers, self._bounds, self._bounds[1:], strict=False):
            held = block[max(0, first - self._row) : max(0, end - self._row)]
            if held.size:
                hasher.update(np.ascontiguousarray(held).data)
        self._row += len(block)
        return block

    def digests(self) -> list[str]:
        """Returns one digest per run."""
        return [hasher.hexdigest() for hasher in self._hashers]
