"""Which blocks of documents may hold a phrase: a table of bits, by hashes of runs of eight bytes.

Consecutive documents are a block of some 16 KiB. Of any two neighbouring runs of eight bytes the one with the lesser
hash is counted (a minimizer: Schleimer, Wilkerson and Aiken 2003, "Winnowing"), two thirds of all. So those of a phrase
are known without the text around it, and at least every second of its runs is counted. Each counted run sets the bit of
its block in one row of the table. A block whose bits are set for all counted runs of a phrase may hold it; one with a
bit unset does not.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

RUN = 8
BLOCK_BYTES = 1 << 14
SLAB = 512
"""Most blocks whose bits lie side by side, in a table of their own: so much is held at once, at most 4 MiB."""

PROBES = 24
"""Counted runs of a phrase that are looked up."""

_LEAST_ROWS, _MOST_ROWS = 1 << 8, 1 << 16
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xC2B2AE3D27D4EB4F)
"""Hashes that are the lesser of two begin with zeros rather than ones; those times this number do not."""
_SLOT = np.uint64(48)


def block_starts(sizes: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """Returns the first row of each block (blocks,). sizes: (documents,) bytes of each text.

    A block ends with the document that makes it `BLOCK_BYTES` or more.
    """
    ends, starts, row = np.cumsum(sizes, dtype=np.int64), [], 0
    while row < len(sizes):
        starts.append(row)
        before = int(ends[row - 1]) if row else 0
        row = int(np.searchsorted(ends, before + BLOCK_BYTES)) + 1
    return np.array(starts, np.int64)


def rows_for(text_bytes: int, blocks: int) -> int:
    """Returns how many rows a table has: the power of two nearest to the bytes of a block; so two fifths are set."""
    wanted = max(1, text_bytes // max(1, blocks))
    return min(max(1 << round(math.log2(wanted)), _LEAST_ROWS), _MOST_ROWS)


def counted(text: bytes, rows: int) -> NDArray[np.int64]:
    """Returns the rows of a table that the counted runs of a text have, ascending, each once."""
    return np.unique(_counted(text, rows))


def _counted(text: bytes, rows: int) -> NDArray[np.int64]:
    """Returns the rows of the counted runs, in the order of the text; none for less than two runs."""
    count = len(text) - RUN + 1
    if count < 2:
        return np.empty(0, np.int64)
    hashes = np.empty(count, np.uint64)
    for offset in range(min(RUN, count)):
        hashes[offset::RUN] = np.frombuffer(text, "<u8", (len(text) - offset) // RUN, offset)
    hashes *= _FACTOR
    least = np.minimum(hashes[:-1], hashes[1:])
    chosen = least[np.flatnonzero(np.diff(least, prepend=~least[:1]))]
    return ((chosen * _SPREAD >> _SLOT) & np.uint64(rows - 1)).astype(np.int64)


def tables(blocks: Iterator[bytes], count: int, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Yields the table of each slab of blocks, (rows, bytes). blocks: their texts; count: how many there are."""
    width = width_of(count)
    table = np.zeros((rows, width), np.uint8)
    for number, text in enumerate(blocks):
        if number and number % (8 * width) == 0:
            yield table
            table = np.zeros((rows, width), np.uint8)
        place = number % (8 * width)
        bits = table[:, place // 8]
        bits[_counted(text, rows)] |= np.uint8(1 << (place % 8))
    if count:
        yield table


def width_of(blocks: int) -> int:
    """Returns how many bytes a row of a table has; slabs are equally large, so that few bits are left over."""
    slabs = max(1, -(-blocks // SLAB))
    return max(1, -(-blocks // (8 * slabs)))


def may_hold(table: NDArray[np.uint8], blocks: int, phrase: bytes) -> NDArray[np.bool_] | None:
    """Returns which blocks may hold a phrase (blocks,); None if no run of it is counted.

    table: (slabs * rows, bytes), those of all slabs one after another.
    """
    if not blocks:
        return np.zeros(0, np.bool_)
    slabs = -(-blocks // (8 * width_of(blocks)))
    rows = len(table) // slabs
    wanted = counted(phrase, rows)
    if not len(wanted):
        return None
    probes = wanted[np.linspace(0, len(wanted) - 1, min(PROBES, len(wanted)), dtype=np.int64)]
    places = np.arange(slabs)[:, None] * rows + probes
    bits = np.bitwise_and.reduce(table[places], axis=1)
    return np.unpackbits(bits, axis=1, bitorder="little").reshape(-1)[:blocks].astype(np.bool_)
