"""SHA-1 of many messages at once (FIPS 180-4): a message is a lane, and LLVM keeps lanes in vector registers.

Arrays are (words, lanes), so that neighbouring lanes are adjacent in memory. numba widens uint32 arithmetic to 64 bits,
hence the cast after every operation.
"""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel

U32 = np.uint32
State = tuple[U32, U32, U32, U32, U32]
Four = tuple[U32, U32, U32, U32]
Block = tuple[Four, Four, Four, Four]

_A, _B, _C, _D, _E = U32(0x67452301), U32(0xEFCDAB89), U32(0x98BADCFE), U32(0x10325476), U32(0xC3D2E1F0)
_ZERO = U32(0)
# Typed, because numba would compile each function again for every plain number in a call.
_K1, _K2, _K3, _K4 = U32(0x5A827999), U32(0x6ED9EBA1), U32(0x8F1BBCDC), U32(0xCA62C1D6)


@inlined
def _rotated(value: U32, bits: int) -> U32:
    return U32(U32(value << U32(bits)) | U32(value >> U32(32 - bits)))


@inlined
def _round(state: State, mixed: U32, constant: U32, word: U32) -> State:
    a, b, c, d, e = state
    total = U32(U32(_rotated(a, 5) + mixed) + U32(e + U32(word + constant)))
    return total, a, _rotated(b, 30), c, d


@inlined
def _choose(state: State, word: U32) -> State:
    _, b, c, d, _ = state
    return _round(state, U32(d ^ U32(b & U32(c ^ d))), _K1, word)


@inlined
def _parity(state: State, constant: U32, word: U32) -> State:
    _, b, c, d, _ = state
    return _round(state, U32(U32(b ^ c) ^ d), constant, word)


@inlined
def _majority(state: State, word: U32) -> State:
    _, b, c, d, _ = state
    return _round(state, U32(U32(b & c) | U32(d & U32(b | c))), _K3, word)


@inlined
def _choose_four(state: State, words: Four) -> State:
    return _choose(_choose(_choose(_choose(state, words[0]), words[1]), words[2]), words[3])


@inlined
def _parity_four(state: State, constant: U32, words: Four) -> State:
    state = _parity(_parity(state, constant, words[0]), constant, words[1])
    return _parity(_parity(state, constant, words[2]), constant, words[3])


@inlined
def _majority_four(state: State, words: Four) -> State:
    return _majority(_majority(_majority(_majority(state, words[0]), words[1]), words[2]), words[3])


@inlined
def _scheduled(w16: U32, w14: U32, w8: U32, w3: U32) -> U32:
    """Returns the next word of the message schedule, from those 16, 14, 8 and 3 places before it."""
    return _rotated(U32(U32(w16 ^ w14) ^ U32(w8 ^ w3)), 1)


@inlined
def _next_four(first: Four, second: Four, third: Four, fourth: Four) -> Four:
    w0 = _scheduled(first[0], first[2], third[0], fourth[1])
    w1 = _scheduled(first[1], first[3], third[1], fourth[2])
    w2 = _scheduled(first[2], second[0], third[2], fourth[3])
    return w0, w1, w2, _scheduled(first[3], second[1], third[3], w0)


@inlined
def _next_block(block: Block) -> Block:
    first, second, third, fourth = block
    first = _next_four(first, second, third, fourth)
    second = _next_four(second, third, fourth, first)
    third = _next_four(third, fourth, first, second)
    return first, second, third, _next_four(fourth, first, second, third)


@inlined
def _rounds(state: State, block: Block) -> State:
    """Returns the state after the 80 rounds, 16 for each stretch of the message schedule."""
    for words in block:
        state = _choose_four(state, words)
    w16, w20, w24, w28 = block = _next_block(block)
    state = _parity_four(_choose_four(state, w16), _K2, w20)
    state = _parity_four(_parity_four(state, _K2, w24), _K2, w28)
    w32, w36, w40, w44 = block = _next_block(block)
    state = _parity_four(_parity_four(state, _K2, w32), _K2, w36)
    state = _majority_four(_majority_four(state, w40), w44)
    w48, w52, w56, w60 = block = _next_block(block)
    state = _majority_four(_majority_four(_majority_four(state, w48), w52), w56)
    state = _parity_four(state, _K4, w60)
    w64, w68, w72, w76 = _next_block(block)
    state = _parity_four(_parity_four(state, _K4, w64), _K4, w68)
    return _parity_four(_parity_four(state, _K4, w72), _K4, w76)


@inlined
def _first_word(a: U32) -> U32:
    """Returns the first four bytes of a digest, read as a little-endian number."""
    return U32(U32(_rotated(a, 24) & U32(0xFF00FF00)) | U32(_rotated(a, 8) & U32(0x00FF00FF)))


@inlined
def _four(words: NDArray[U32], row: int, lane: int) -> Four:
    return words[row, lane], words[row + 1, lane], words[row + 2, lane], words[row + 3, lane]


@inlined
def _hash(block: Block) -> U32:
    """Returns the first four digest bytes, as a little-endian number, of a message of one block."""
    return _first_word(U32(_A + _rounds((_A, _B, _C, _D, _E), block)[0]))


@kernel
def hash_short(words: NDArray[U32], lanes: int, hashes: NDArray[U32]) -> None:
    """Writes the first four digest bytes, as a little-endian number, of messages under 16 bytes.

    `words` (5 or more, lanes or more): a padded message's first four words and its last, the length in bits; the ones
    between are zero. They need not be written, since they are not read.
    """
    zeros = (_ZERO, _ZERO, _ZERO, _ZERO)
    for lane in range(lanes):
        hashes[lane] = _hash((_four(words, 0, lane), zeros, zeros, (_ZERO, _ZERO, _ZERO, words[4, lane])))


@kernel
def hash_half(words: NDArray[U32], lanes: int, hashes: NDArray[U32]) -> None:
    """Does what `hash_short` does, for messages under 32 bytes: `words` are the first eight and the last."""
    zeros = (_ZERO, _ZERO, _ZERO, _ZERO)
    for lane in range(lanes):
        first, second = _four(words, 0, lane), _four(words, 4, lane)
        hashes[lane] = _hash((first, second, zeros, (_ZERO, _ZERO, _ZERO, words[8, lane])))


@kernel
def hash_block(words: NDArray[U32], lanes: int, hashes: NDArray[U32]) -> None:
    """Does what `hash_short` does, for messages under 56 bytes: `words` are the first fourteen and the last."""
    for lane in range(lanes):
        last = (words[12, lane], words[13, lane], _ZERO, words[14, lane])
        hashes[lane] = _hash((_four(words, 0, lane), _four(words, 4, lane), _four(words, 8, lane), last))


@kernel
def start_states(states: NDArray[U32], lanes: int) -> None:
    """Sets states (5, lanes or more) to those before the first block of a message."""
    for lane in range(lanes):
        states[0, lane], states[1, lane], states[2, lane] = _A, _B, _C
        states[3, lane], states[4, lane] = _D, _E


@kernel
def compress(words: NDArray[U32], lanes: int, states: NDArray[U32], hashes: NDArray[U32]) -> None:
    """Takes one block of each message, `words` (16, lanes or more), into its state (5, lanes or more).

    `hashes` (lanes or more,) becomes that of messages which end here, as `hash_short` writes it.
    """
    for lane in range(lanes):
        block = _four(words, 0, lane), _four(words, 4, lane), _four(words, 8, lane), _four(words, 12, lane)
        before = (states[0, lane], states[1, lane], states[2, lane], states[3, lane], states[4, lane])
        a, b, c, d, e = _rounds(before, block)
        states[0, lane], states[1, lane] = U32(before[0] + a), U32(before[1] + b)
        states[2, lane], states[3, lane] = U32(before[2] + c), U32(before[3] + d)
        states[4, lane] = U32(before[4] + e)
        hashes[lane] = _first_word(states[0, lane])
