"""Joins token lists of prompts and completions with loss masks, and writes sequences into padded rows."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids
from resources.kernels.jit import ahead, inlined, kernel

Positions = NDArray[np.int64]
INPUTS, MASK, LABELS = 0, 1, 2


@inlined
def _put(ids: Ids, tokens: Ids, at: int) -> int:
    target = tokens[at : at + ids.size]
    for i in range(ids.size):
        target[i] = ids[i]
    return at + ids.size


@ahead(
    "Tuple((int32[::1], int64[:, ::1], int32[::1], int64[:, ::1])), boolean[::1], "
    "boolean[::1], UniTuple(int32[::1], 5), Tuple((int32[::1], int32[::1], int64[::1]))"
)
@kernel
def assemble(
    texts: tuple[Ids, Positions, Ids, Positions],
    firsts: NDArray[np.bool_],
    ends: NDArray[np.bool_],
    fixed: tuple[Ids, Ids, Ids, Ids, Ids],
    target: tuple[Ids, Ids, Positions],
) -> None:
    """Write pair i to `tokens[offsets[i]:offsets[i + 1]]`: opening, prompt, bridge, prefix, completion, end.

    `texts`: ids of prompts, spans (pairs, 2) of what is taken of them, the same of completions. `ends`: whether the end
    follows. `fixed`: opening of a first pair, opening of a later one, bridge, completion prefix, end. `target`: tokens,
    masks, offsets; masks come as zeros and become 1 where the next token of the same pair is one of the completion or
    the end.
    """
    prompts, prompt_spans, completions, completion_spans = texts
    tokens, masks, offsets = target
    opening, later, bridge, prefix, end = fixed
    for pair in range(firsts.size):
        at = _put(opening if firsts[pair] else later, tokens, offsets[pair])
        at = _put(prompts[prompt_spans[pair, 0] : prompt_spans[pair, 1]], tokens, at)
        at = _put(bridge, tokens, at)
        learned = _put(prefix, tokens, at)
        at = _put(completions[completion_spans[pair, 0] : completion_spans[pair, 1]], tokens, learned)
        if ends[pair]:
            at = _put(end, tokens, at)
        masks[max(learned - 1, offsets[pair]) : at - 1] = 1


@ahead("Tuple((int32[::1], int32[::1], int64[::1])), int64, int64, int32[:, :, ::1]")
@kernel
def pad_rows(sequences: tuple[Ids, Ids, Positions], pad_id: int, inverted: int, block: Ids) -> None:
    """Write sequence i into row i of a block (rows, 3, L): at most L ids as inputs, ids after the first as labels.

    `sequences`: tokens, masks, offsets.
    """
    tokens, masks, offsets = sequences
    length = block.shape[2]
    for row in range(block.shape[0]):
        first, stop = offsets[row], offsets[row + 1]
        inputs = min(length, stop - first)
        labels = stop - first - 1
        block[row, INPUTS, inputs:] = pad_id
        block[row, LABELS, labels:] = pad_id
        for i in range(inputs):
            block[row, INPUTS, i] = tokens[first + i]
        for i in range(labels):
            block[row, LABELS, i] = tokens[first + i + 1]
            block[row, MASK, i] = masks[first + i] ^ inverted
        block[row, MASK, labels:] = inverted
