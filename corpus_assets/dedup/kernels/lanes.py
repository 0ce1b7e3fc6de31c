"""SHA-1 of the shingles of many documents: short ones and long ones are queued until there are lanes enough."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.sha1 import compress, hash_short, start_states
from corpus_assets.dedup.kernels.windows import first_window, next_window
from resources.jit import inlined, kernel

U32 = np.uint32
Queues = tuple[NDArray[U32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[U32]]
"""Padded short messages as `sha1.hash_short` wants them and the slots of their hashes; (start, length, slot) of long
messages, shape (3, lanes); how many of each kind wait; and the hashes."""

_PADDING = 32
_SHORT = 15
# Not a power of two: the words of one lane would then compete for the same lines of the first cache.
_LANES = 960


@kernel
def hash_shingles(
    text: NDArray[np.uint8], bounds: NDArray[np.int64], by_word: int, width: int
) -> tuple[NDArray[U32], NDArray[np.int64]]:
    """First four bytes of SHA-1, little-endian, of each shingle of each document text[bounds[d]:bounds[d + 1]].

    Returns hashes and firsts (as long as `bounds`): those of document d are hashes[firsts[d]:firsts[d + 1]], the last
    one repeated up to a multiple of 32, so that no loop over them has a remainder.
    """
    documents = bounds.size - 1
    hashes = np.empty(text.size + _PADDING * documents, dtype=U32)
    firsts = np.zeros(bounds.size, dtype=np.int64)
    ends = np.zeros(documents, dtype=np.int64)
    short_words = np.empty((5, _LANES), dtype=U32)
    slots = np.empty(_LANES, dtype=np.int64)
    spans = np.empty((3, _LANES), dtype=np.int64)
    queues = short_words, slots, spans, np.zeros(2, dtype=np.int64), hashes
    for document in range(documents):
        span = bounds[document], bounds[document + 1]
        ends[document] = _queue_document(text, span, (by_word, width), firsts[document], queues)
        firsts[document + 1] = ends[document] + (firsts[document] - ends[document]) % _PADDING
    _hash_shorts(queues)
    _hash_longs(text, queues)
    for document in range(documents):
        hashes[ends[document] : firsts[document + 1]] = hashes[ends[document] - 1]
    return hashes, firsts


@kernel
def _queue_document(
    text: NDArray[np.uint8], span: tuple[int, int], shingle: tuple[int, int], slot: int, queues: Queues
) -> int:
    """Queue the shingles of one document, to be hashed to `slot` and on; returns the slot after the last."""
    words, slots, spans, waiting, _ = queues
    first, stop = span
    by_word, width = shingle
    end = first_window(text, first, stop, by_word, width)
    while end >= 0:
        length = end - first
        run = 1
        if length > _SHORT:
            lane = waiting[1]
            spans[0, lane], spans[1, lane], spans[2, lane] = first, length, slot
            waiting[1] += 1
            if waiting[1] == _LANES:
                _hash_longs(text, queues)
        else:
            lane = waiting[0]
            if length == width and not by_word:
                run += _ascii_after(text, end, min(stop, end + _LANES - 1 - lane))
            _fill_short(text, (first, length), run, words, lane)
            for i in range(run):
                slots[lane + i] = slot + i
            waiting[0] += run
            if waiting[0] == _LANES:
                _hash_shorts(queues)
        slot += run
        first += run - 1
        end += run - 1
        if end == stop:
            break
        first, end = next_window(text, first, end, stop, by_word)
    return slot


@kernel
def _ascii_after(text: NDArray[np.uint8], start: int, stop: int) -> int:
    """How many bytes from `start` on, before `stop`, are ASCII."""
    end = start
    while end < stop and text[end] < 0x80:
        end += 1
    return end - start


@kernel
def _fill_short(text: NDArray[np.uint8], message: tuple[int, int], run: int, words: NDArray[U32], lane: int) -> None:
    """Write the messages text[start + i:start + i + length], i < run, padded, from `lane` on."""
    start, length = message
    # Unsigned indices spare the check for negative ones, which would keep the loops from being vectorised.
    column = np.uint64(lane)
    for row in range(4):
        first = np.uint64(start + 4 * row)
        left = length - 4 * row
        if left >= 4:
            for i in range(np.uint64(run)):
                words[row, column + i] = _word(text, first + i)
        else:
            for i in range(np.uint64(run)):
                words[row, column + i] = _last_word(text, first + i, left)
    for i in range(np.uint64(run)):
        words[4, column + i] = 8 * length


@inlined
def _word(text: NDArray[np.uint8], start: np.uint64) -> U32:
    word = U32(U32(text[start]) << U32(24))
    for i in range(1, 4):
        word = U32(word | U32(U32(text[start + np.uint64(i)]) << U32(24 - 8 * i)))
    return word


@inlined
def _last_word(text: NDArray[np.uint8], start: np.uint64, left: int) -> U32:
    """The word with the last `left` bytes and the bit after them; zero when that bit is in an earlier word."""
    if left < 0:
        return U32(0)
    word = U32(U32(0x80) << U32(24 - 8 * left))
    for i in range(left):
        word = U32(word | U32(U32(text[start + np.uint64(i)]) << U32(24 - 8 * i)))
    return word


@kernel
def _hash_shorts(queues: Queues) -> None:
    words, slots, _, waiting, hashes = queues
    made = np.empty(_LANES, dtype=U32)
    hash_short(words, waiting[0], made)
    for lane in range(waiting[0]):
        hashes[slots[lane]] = made[lane]
    waiting[0] = 0


@kernel
def _hash_longs(text: NDArray[np.uint8], queues: Queues) -> None:
    """Hash block by block; a message that has ended makes room for the last one, so no lane idles."""
    _, _, spans, waiting, hashes = queues
    words = np.empty((16, _LANES), dtype=U32)
    states = np.empty((5, _LANES), dtype=U32)
    made = np.empty(_LANES, dtype=U32)
    lanes = waiting[1]
    start_states(states, lanes)
    block = 0
    while lanes:
        for lane in range(lanes):
            _fill_block(text, (spans[0, lane], spans[1, lane]), block, words, lane)
        compress(words, lanes, states, made)
        block += 1
        for lane in range(lanes - 1, -1, -1):
            if (spans[1, lane] + 8) // 64 < block:
                hashes[spans[2, lane]] = made[lane]
                lanes -= 1
                if lane < lanes:
                    _move(states, lanes, lane)
                    _move(spans, lanes, lane)
    waiting[1] = 0


@inlined
def _move(lanes: NDArray[np.generic], source: int, target: int) -> None:
    for row in range(lanes.shape[0]):
        lanes[row, target] = lanes[row, source]


@inlined
def _fill_block(text: NDArray[np.uint8], message: tuple[int, int], block: int, words: NDArray[U32], lane: int) -> None:
    """Write one 64-byte block of the padded message (start, length)."""
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
