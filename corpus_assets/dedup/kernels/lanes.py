"""SHA-1 of the shingles of many documents, a tile of neighbouring shingles at a time: a shingle is a lane.

Neighbours have similar lengths, so the longest of a tile decides which kernel hashes the whole tile.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.sha1 import compress, hash_block, hash_half, hash_short, start_states
from corpus_assets.dedup.kernels.windows import unit_starts
from resources.kernels.jit import ahead, helper, inlined, kernel, merged

U32 = np.uint32
Buffers = tuple[NDArray[U32], NDArray[U32]]
"""The words that start at each byte of a tile's text, and those of the padded messages, (words, lanes)."""

_PADDING = 32
# Not a power of two, because the words of one lane would then compete for the same lines of the first cache.
_LANES = 480
_SHORT, _HALF, _BLOCK = 15, 31, 55


@ahead("uint8[::1], int64[::1], int64, int64")
@kernel
def hash_shingles(
    text: NDArray[np.uint8], bounds: NDArray[np.int64], by_word: int, width: int
) -> tuple[NDArray[U32], NDArray[np.int64]]:
    """Hashes each shingle of each document text[bounds[d]:bounds[d + 1]]: first four bytes of SHA-1, little-endian.

    Returns hashes and firsts (as long as `bounds`): those of document d are hashes[firsts[d]:firsts[d + 1]], the last
    one repeated up to a multiple of 32, so that loops over them have no remainder.
    """
    hashes = np.empty(text.size + _PADDING * (bounds.size - 1), dtype=U32)
    firsts = np.zeros(bounds.size, dtype=np.int64)
    starts = np.empty(_LANES + width, dtype=np.int64)
    # A tile of one-block messages spans at most so many bytes, a separator after each included.
    ahead = np.empty((_LANES + 1) * (_BLOCK + 1), dtype=U32)
    buffers = ahead, np.empty((16, _LANES), dtype=U32)
    for document in range(bounds.size - 1):
        first, stop = bounds[document], bounds[document + 1]
        slot = firsts[document]
        windows = _LANES
        while windows == _LANES:
            windows = max(0, unit_starts(text, first, stop, by_word, starts) - width)
            lanes = windows + -windows % _PADDING
            if windows:
                _hash_tile(text, (starts[:windows], starts[width:] - by_word), buffers, hashes[slot : slot + lanes])
            slot += lanes
            first = starts[windows]
        firsts[document + 1] = slot
    return hashes, firsts


@merged
def _hash_tile(
    text: NDArray[np.uint8],
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
    buffers: Buffers,
    hashes: NDArray[U32],
) -> None:
    """Hashes the windows (starts, ends) of a tile; hashes past them repeat the last."""
    ahead, words = buffers
    starts, ends = windows
    shortest, longest = _extremes(starts, ends)
    if longest > _BLOCK:
        _hash_longs(text, windows, words, hashes)
    else:
        _look_ahead(text[starts[0] :], ends[starts.size - 1] - starts[0], ahead)
        rows = 4 if longest <= _SHORT else 8 if longest <= _HALF else 14
        _fill(ahead, windows, (shortest, rows), words)
        if rows == 4:
            hash_short(words, hashes.size, hashes)
        elif rows == 8:
            hash_half(words, hashes.size, hashes)
        else:
            hash_block(words, hashes.size, hashes)
    hashes[starts.size :] = hashes[starts.size - 1]


@inlined
def _extremes(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[int, int]:
    """Returns the lengths of the shortest and of the longest window."""
    shortest = longest = ends[0] - starts[0]
    for i in range(starts.size):
        length = ends[i] - starts[i]
        shortest, longest = min(shortest, length), max(longest, length)
    return shortest, longest


@inlined
def _look_ahead(text: NDArray[np.uint8], size: int, ahead: NDArray[U32]) -> None:
    """Writes the big-endian word that starts at each of the first `size` bytes, with zeros for bytes past the text."""
    whole = min(size, max(0, text.size - 3))
    for i in range(np.uint64(whole)):
        ahead[i] = _word(text, np.uint64(i))
    for i in range(whole, size):
        ahead[i] = _last_word(text, np.uint64(i), text.size - i)


@helper
def _fill(
    ahead: NDArray[U32],
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
    sizes: tuple[int, int],
    words: NDArray[U32],
) -> None:
    """Writes `rows` words of each padded message, and its length in bits; `sizes` are (shortest length, rows)."""
    starts, ends = windows
    shortest, rows = sizes
    # LLVM knows that arrays created here do not overlap others, so it vectorises the loops.
    offsets, lengths = np.empty(_LANES, U32), np.empty(_LANES, U32)
    for i in range(starts.size):
        offsets[i] = starts[i] - starts[0]
        lengths[i] = ends[i] - starts[i]
        words[rows, i] = lengths[i] << 3
    lanes = starts.size
    neighbours = offsets[lanes - 1] == lanes - 1
    for row in range(rows):
        source, target = ahead[4 * row :], words[row]
        if neighbours:
            for i in range(lanes):
                target[i] = source[i]
        else:
            for i in range(lanes):
                target[i] = source[offsets[i]]
        if shortest < 4 * row + 4:
            for i in range(lanes):
                target[i] = _ended(target[i], lengths[i], U32(4 * row))


@inlined
def _ended(word: U32, length: U32, done: U32) -> U32:
    """Returns a word after `done` bytes of its message, with the bit and the zeros that follow the message."""
    if length < done:
        return U32(0)
    left = U32(length - done)
    if left >= U32(4):
        return word
    bits = U32(left << U32(3))
    return U32(U32(word & ~U32(U32(0xFFFFFFFF) >> bits)) | U32(U32(0x80000000) >> bits))


@inlined
def _word(text: NDArray[np.uint8], start: np.uint64) -> U32:
    word = U32(U32(text[start]) << U32(24))
    for i in range(1, 4):
        word = U32(word | U32(U32(text[start + np.uint64(i)]) << U32(24 - 8 * i)))
    return word


@inlined
def _last_word(text: NDArray[np.uint8], start: np.uint64, left: int) -> U32:
    """Returns the word of the last `left` bytes and the bit after them; zero if an earlier word has that bit."""
    if left < 0:
        return U32(0)
    word = U32(U32(0x80) << U32(24 - 8 * left))
    for i in range(left):
        word = U32(word | U32(U32(text[start + np.uint64(i)]) << U32(24 - 8 * i)))
    return word


@merged
def _hash_longs(
    text: NDArray[np.uint8],
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
    words: NDArray[U32],
    hashes: NDArray[U32],
) -> None:
    """Hashes block by block; when a message ends, the last one moves to its lane, so that no lane is idle."""
    lanes = windows[0].size
    spans = np.empty((3, lanes), dtype=np.int64)
    for i in range(lanes):
        spans[0, i], spans[1, i], spans[2, i] = windows[0][i], windows[1][i] - windows[0][i], i
    states = np.empty((5, _LANES), dtype=U32)
    made = np.empty(_LANES, dtype=U32)
    start_states(states, lanes)
    block = np.int64(0)
    while lanes:
        for lane in range(lanes):
            _fill_block(text, (spans[0, lane], spans[1, lane]), int(block), words, lane)
        compress(words, lanes, states, made)
        block += 1
        for lane in range(lanes - 1, -1, -1):
            if (spans[1, lane] + 8) // 64 < block:
                hashes[spans[2, lane]] = made[lane]
                lanes -= 1
                if lane < lanes:
                    _move(states, lanes, lane)
                    _move(spans, lanes, lane)


@inlined
def _move(lanes: NDArray[np.generic], source: int, target: int) -> None:
    for row in range(lanes.shape[0]):
        lanes[row, target] = lanes[row, source]


@inlined
def _fill_block(text: NDArray[np.uint8], message: tuple[int, int], block: int, words: NDArray[U32], lane: int) -> None:
    """Writes one 64-byte block of the padded message (start, length)."""
    start, length = message[0] + 64 * block, message[1]
    left = length - 64 * block
    whole = min(max(left, 0) // 4, 16)
    for row in range(whole):
        words[row, lane] = _word(text, np.uint64(start + 4 * row))
    for row in range(whole, 16):
        words[row, lane] = _last_word(text, np.uint64(start + 4 * row), left - 4 * row)
    if left < 56:
        words[14, lane] = length >> 29
        words[15, lane] = length << 3
