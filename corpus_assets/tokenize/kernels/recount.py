"""Counts ids and loss positions of rows, and marks faults of their structure.

`faults` (rows, 7) is 1 where a row has the fault of that number; `unmasked` is the mask of a position out of the loss.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

Block = NDArray[np.int32]
Row = NDArray[np.int32]
Faults = NDArray[np.uint8]

NON_PAD, LOSS, BYTES, CHARS = range(4)
BAD_ID, BAD_MASK, NOT_SHIFTED, OUT_OF_LOSS, BAD_SPAN, PROMPT_LABEL, SPLIT_RESPONSE = range(7)
# Typed, because numba would compile a function again for every plain number in a call.
_MASKS: Any = np.int64(2)
_MASKED: Any = np.int64(0)
_FIRST: Any = np.int64(0)


@ahead(
    "int32[:, :, ::1], UniTuple(int64, 2), UniTuple(int64, 3), "
    "UniTuple(int32[::1], 2), Tuple((int64[::1], uint8[:, ::1]))"
)
@kernel
def count_side(
    block: Block,
    side: tuple[int, int],
    ids: tuple[int, int, int],
    sizes: tuple[NDArray[np.int32], NDArray[np.int32]],
    out: tuple[NDArray[np.int64], Faults],
) -> None:
    """Counts of inputs, mask and labels, the three channels from one on; their values' faults.

    `side`: first channel, `unmasked`. `ids`: end-of-text id, pad id, size of the vocabulary. `sizes`: bytes and code
    points by id, or two empty tables. `out`: totals (4,), which are added to, and faults.
    """
    channel, unmasked = side
    eos, pad, vocabulary = ids
    totals, faults = out
    for row in range(block.shape[0]):
        inputs, mask, labels = block[row, channel], block[row, channel + 1], block[row, channel + 2]
        totals[NON_PAD] += _other_than(inputs, eos, pad)
        totals[LOSS] += mask.size - _equal(mask, unmasked)
        if _is_outside(mask, _MASKS):
            faults[row, BAD_MASK] = 1
        if _is_outside(inputs, vocabulary) or _is_outside(labels, vocabulary):
            faults[row, BAD_ID] = 1
        elif sizes[0].size:
            totals[BYTES] += _gathered(inputs, sizes[0])
            totals[CHARS] += _gathered(inputs, sizes[1])


@inlined
def _other_than(values: Row, one: int, other: int) -> int:
    count = 0
    for i in range(values.size):
        count += (values[i] != one) & (values[i] != other)
    return count


@inlined
def _equal(values: Row, value: int) -> int:
    count = 0
    for i in range(values.size):
        count += values[i] == value
    return count


@inlined
def _is_outside(values: Row, limit: int) -> bool:
    outside = 0
    for i in range(values.size):
        outside |= (values[i] < 0) | (values[i] >= limit)
    return outside != 0


@inlined
def _gathered(values: Row, table: NDArray[np.int32]) -> int:
    total = 0
    for i in range(values.size):
        total += table[np.uint32(values[i])]
    return total


@ahead("int32[:, :, ::1], int64, int64, boolean, uint8[:, ::1]")
@kernel
def check_rows(block: Block, unmasked: int, pad: int, every: int, faults: Faults) -> None:
    """Rows (n, 3, L) of one sequence; `every`: all its positions are in the loss."""
    for row in range(block.shape[0]):
        inputs, mask, labels = block[row, 0], block[row, 1], block[row, 2]
        end = _end(inputs, mask, labels, unmasked, pad)
        if _shift_faults(inputs, labels, _FIRST, end):
            faults[row, NOT_SHIFTED] = 1
        if every and _equal(mask[:end], unmasked):
            faults[row, OUT_OF_LOSS] = 1


@ahead("int32[:, :, ::1], int64, int64, boolean, uint8[:, ::1]")
@kernel
def check_packed(block: Block, unmasked: int, pad: int, every: int, faults: Faults) -> None:
    """Rows (n, 5, L) of several sequences, as `check_rows`, with attention spans and position ids."""
    for row in range(block.shape[0]):
        inputs, mask, labels = block[row, 0], block[row, 1], block[row, 2]
        spans, positions = block[row, 3], block[row, 4]
        end = spans.size
        while end and spans[end - 1] == 0 and positions[end - 1] == 0:
            end -= 1
        # A sequence of one position has neither, so padding ends where the ids and the mask say so.
        end += _end(inputs[end:], mask[end:], labels[end:], unmasked, pad)
        wrong_span = int(end > 0 and (positions[0] != 0 or spans[end - 1] != 0))
        wrong_label = 0
        for i in range(1, end):
            goes_on = spans[i - 1] != 0
            follows = (positions[i] == positions[i - 1] + 1) & (spans[i] == spans[i - 1] - 1)
            wrong_span += (goes_on & (not follows)) | ((not goes_on) & (positions[i] != 0))
            wrong_label += goes_on & (labels[i - 1] != inputs[i])
        if wrong_span:
            faults[row, BAD_SPAN] = 1
        if wrong_label:
            faults[row, NOT_SHIFTED] = 1
        if every and _equal(mask[:end], unmasked):
            faults[row, OUT_OF_LOSS] = 1


@ahead("int32[:, :, ::1], int64, int64, uint8[:, ::1]")
@kernel
def check_preference(block: Block, channel: int, pad: int, faults: Faults) -> None:
    """Preference rows (n, 6, L), the three channels of a side from one on: a prompt, then the response in the loss."""
    for row in range(block.shape[0]):
        inputs, mask, labels = block[row, channel], block[row, channel + 1], block[row, channel + 2]
        first = 0
        while first < mask.size and mask[first] == 0:
            first += 1
        if first != _equal(labels[:first], pad):
            faults[row, PROMPT_LABEL] = 1
        if _shift_faults(inputs, labels, first, _end(inputs, mask, labels, _MASKED, pad)):
            faults[row, NOT_SHIFTED] = 1
        last = mask.size
        while last > first and mask[last - 1] == 0:
            last -= 1
        if _equal(mask[first:last], _MASKED):
            faults[row, SPLIT_RESPONSE] = 1


@inlined
def _end(inputs: Row, mask: Row, labels: Row, unmasked: int, pad: int) -> int:
    """Returns where the padding at the end of a row starts: out of the loss, the pad id as input and as label."""
    end = inputs.size
    while end and mask[end - 1] == unmasked and inputs[end - 1] == pad and labels[end - 1] == pad:
        end -= 1
    return end


@inlined
def _shift_faults(inputs: Row, labels: Row, first: int, end: int) -> int:
    """Returns how many labels from `first` on, but for the last before `end`, are not the input after them."""
    faults = 0
    for i in range(first, end - 1):
        faults += labels[i] != inputs[i + 1]
    return faults
