"""Pass 2: the order of a chunk, and writing it with bounded memory."""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

_OVERHEAD = 3
MAX_BUCKETS = 128


def keyed_order(order: NDArray[np.uint64], copy: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Positions of the input rows in output order: by keyed hash, then copy; equal ones keep their order."""
    return np.lexsort((copy, order))


def slimpajama_order(rows: int, seed: int) -> NDArray[np.int64]:
    """Positions of the input rows in the order of the reference: `random.seed(seed); random.shuffle(list)`.

    docs/formats/slimpajama.md "Pass 2"; a private generator gives the same sequence as the global one it seeds.
    """
    positions = list(range(rows))
    random.Random(seed).shuffle(positions)
    return np.array(positions, dtype=np.int64)


def in_order(
    lines: Iterable[bytes], order: NDArray[np.int64], size: int, memory: int, spill: Callable[[], BinaryIO]
) -> Iterator[bytes]:
    """Lines rearranged: output k is input `order[k]`.

    size: bytes of all lines. When they do not fit `memory`, output positions are cut into ranges, each spilled to a
    temporary file of its own and arranged alone, again by files if need be. The result does not depend on `memory`.
    """
    buckets = min(-(-size * _OVERHEAD // max(1, memory)), MAX_BUCKETS, len(order))
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
        part = np.argsort(rank[bucket_of == number])
        with file:
            written = file.tell()
            file.seek(0)
            yield from in_order(file, part, written, memory, spill)
