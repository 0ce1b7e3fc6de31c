"""Token lists written straight into language-modelling rows (rows, 3, L): inputs, loss mask, labels."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids
from resources.kernels.jit import ahead, inlined, kernel

Lists = tuple[Ids, NDArray[np.int64]]  # `ids` and `offsets` of a Ragged
INPUTS, MASK, LABELS = 0, 1, 2


@inlined
def _finish_row(block: Ids, row: int, real: int) -> None:
    """Mask and labels of a row whose inputs, and the first of the next row, are there."""
    length = block.shape[2]
    inputs, mask, labels = block[row, INPUTS], block[row, MASK], block[row, LABELS]
    for i in range(length - 1):
        labels[i] = inputs[i + 1]
    labels[length - 1] = block[row + 1, INPUTS, 0]
    for i in range(length):
        mask[i] = real


@inlined
def _append(ids: Ids, block: Ids, filled: int, real: int) -> None:
    """Put ids after the first `filled` inputs of the block; rows that are complete then get mask and labels."""
    length = block.shape[2]
    done = 0
    while done < ids.size:
        row, column = divmod(filled + done, length)
        count = min(ids.size - done, length - column)
        source, target = ids[done : done + count], block[row, INPUTS, column : column + count]
        for i in range(count):
            target[i] = source[i]
        if column == 0 and row > 0:
            _finish_row(block, row - 1, real)
        done += count


@ahead("Tuple((int32[::1], int64[::1])), int32[::1], int64, int64[::1], int32[:, :, ::1]")
@kernel
def pack(lists: Lists, end: Ids, real: int, place: NDArray[np.int64], block: Ids) -> None:
    """Go on writing the stream of all lists, each followed by `end` (0 or 1 id), into a block (rows + 1, 3, L).

    `place` is read and moved on: list, index into `ids`, inputs filled in the block. Stops at the end of the lists, or
    when rows x L + 1 inputs are filled: then all rows but the last have mask and labels, and the last row has the one
    input that it shares. `real` is the mask of the rows.
    """
    ids, offsets = lists
    room = (block.shape[0] - 1) * block.shape[2] + 1
    current, position, filled = place[0], place[1], place[2]
    while current < offsets.size - 1 and filled < room:
        count = min(offsets[current + 1] - position, room - filled)
        _append(ids[position : position + count], block, filled, real)
        position += count
        filled += count
        if position == offsets[current + 1] and filled + end.size <= room:
            _append(end, block, filled, real)
            filled += end.size
            current += 1
    place[0], place[1], place[2] = current, position, filled


@ahead("Tuple((int32[::1], int64[::1])), int32[::1], int64, int64[::1], Tuple((int32[:, :, ::1], int64[::1]))")
@kernel
def cut(lists: Lists, end: Ids, minimum: int, place: NDArray[np.int64], rows: tuple[Ids, NDArray[np.int64]]) -> int:
    """Go on writing the windows of L + 1 ids of every list and its `end`, one per row; returns how many rows it wrote.

    `place` is read and moved on: list, where its next window starts. `rows` are a block (rows, 3, L) and the number of
    ids of each window (rows,). The mask is not written, nor are inputs and labels that the window does not reach. A
    window of fewer ids than `minimum` or than 2 is left out.
    """
    ids, offsets = lists
    block, lengths = rows
    room, length = block.shape[0], block.shape[2]
    current, start = place[0], place[1]
    row = 0
    while current < offsets.size - 1 and row < room:
        known = offsets[current + 1] - offsets[current] - start
        size = min(known + end.size, length + 1)
        if size >= max(2, minimum):
            window = ids[offsets[current] + start : offsets[current] + start + min(known, size)]
            inputs, labels = block[row, INPUTS], block[row, LABELS]
            for i in range(min(window.size, size - 1)):
                inputs[i] = window[i]
            for i in range(window.size - 1):
                labels[i] = window[i + 1]
            if window.size < size:
                labels[size - 2] = end[0]
            lengths[row] = size
            row += 1
        start += length
        if known + end.size - length < 2:
            current += 1
            start = 0
    place[0], place[1] = current, start
    return row


@ahead("int32[:, :, ::1], int64[::1], int64, int64, int64")
@kernel
def pad(block: Ids, lengths: NDArray[np.int64], pad_id: int, real: int, padding: int) -> None:
    """Mask every row of a block, `real` on its first lengths - 1 positions; the others become padding."""
    for row in range(block.shape[0]):
        labels = lengths[row] - 1
        block[row, INPUTS, labels:] = pad_id
        block[row, MASK, :labels] = real
        block[row, MASK, labels:] = padding
        block[row, LABELS, labels:] = pad_id
