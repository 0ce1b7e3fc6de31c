"""Pass 2: computes the order of a chunk, and rearranges its lines with bounded memory."""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_LINE_BYTES = 256
"""Bytes of memory that a line takes beside its own: as an object, in lists, and its rows in the tables of a chunk."""
MAX_BUCKETS = 128


def keyed_order(order: NDArray[np.uint64], copy: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Returns the positions of the input rows in output order: by keyed hash, then copy, then position."""
    return np.lexsort((copy, order))


def slimpajama_order(rows: int, seed: int) -> NDArray[np.int64]:
    """Returns the positions of the input rows in SlimPajama's order: `random.seed(seed); random.shuffle(list)`.

    Rule: docs/formats/slimpajama.md "Pass 2". A private generator gives the same sequence as the global one.
    """
    positions = list(range(rows))
    random.Random(seed).shuffle(positions)
    return np.array(positions, dtype=np.int64)


def memory_of(size: int, lines: int) -> int:
    """Returns the bytes of memory in which so many lines of `size` bytes are arranged, about."""
    return size + size // 4 + _LINE_BYTES * lines


def in_order(
    lines: Iterable[bytes], order: NDArray[np.int64], size: int, memory: int, spill: Callable[[], BinaryIO]
) -> Iterator[bytes]:
    """Yields the lines in another order: output k is input `order[k]`.

    size: bytes of all lines. If they do not fit `memory`, output positions are cut into ranges; the lines of each range
    go to a temporary file and are arranged separately, recursively if necessary. The result does not depend on
    `memory`.
    """
    buckets = min(-(-memory_of(size, len(order)) // max(1, memory)), MAX_BUCKETS, len(order))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    if buckets <= 1:
        held = list(lines)
        yield from (held[position] for position in order)
        return
    bucket_of = rank * buckets // max(1, len(order))
    files = [spill() for _ in range(buckets)]
    for line, bucket in zip(lines, bucket_of, strict=True):
        files[bucket].write(line)
    for number, file in enumerate(files):
        order_inside = np.argsort(rank[bucket_of == number])
        with file:
            written = file.tell()
            file.seek(0)
            yield from in_order(file, order_inside, written, memory, spill)
