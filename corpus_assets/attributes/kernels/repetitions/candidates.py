"""Positions that the first copy of a unit may cover, without any that is left out.

Units of up to three code points: the code point at a position must be one of two at the distance of the second copy, of
three at that of the third and of four at that of the fourth, as each copy may have whitespace before it. Longer ones:
four code points at a position within the second copy were there before, at the distance of the first. So only lengths
are tried for which a run of such positions is long enough, and one position in each part of the run that can be the
second copy. Most texts have few and short runs.
"""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import helper, inlined

NEWLINE = 10
SHORT, GRAM = 3, 4
"""Code points of the longest short unit, and of the stretches that tell where longer ones are."""
RUN = 8
"""The mark of a position where four equal code points begin; those of short units are 1, 2 and 4."""
_ANY = 31
_REACH = 12
"""Code points beyond a position that its marks depend on."""
_FAR = -(1 << 30)
_MIXING = np.uint64(0x9E3779B97F4A7C15)
_LEAST_BITS, _MOST_BITS = 8, 16


@helper
def mark_short(codes: NDArray[np.uint32], marks: NDArray[np.uint8]) -> int:
    """Marks positions of a part of the text where short units may begin, and newlines; returns how many these are.

    Near the end of the part units may begin anywhere. marks: the sum of 1, 2 and 4 for a unit of 1, 2 and 3 code
    points, and RUN; newlines have any.
    """
    newlines = 0
    for code in codes:
        newlines += code == NEWLINE
    inner = max(codes.size - _REACH, 0)
    for place in range(inner):
        code = codes[place]
        at_1, at_2, at_3 = code == codes[place + 1], code == codes[place + 2], code == codes[place + 3]
        at_4, at_5, at_6 = code == codes[place + 4], code == codes[place + 5], code == codes[place + 6]
        at_7, at_8, at_9 = code == codes[place + 7], code == codes[place + 8], code == codes[place + 9]
        late = at_9 | (code == codes[place + 10]) | (code == codes[place + 11]) | (code == codes[place + 12])
        one = (at_1 | at_2) & (at_2 | at_3 | at_4) & (at_3 | at_4 | at_5 | at_6)
        two = (at_2 | at_3) & (at_4 | at_5 | at_6) & (at_6 | at_7 | at_8 | at_9)
        three = (at_3 | at_4) & (at_6 | at_7 | at_8) & late
        marks[place] = (
            np.uint8(one)
            | np.uint8(two) << 1
            | np.uint8(three) << 2
            | np.uint8(at_1 & at_2 & at_3) << 3
            | np.uint8(code == NEWLINE) << 4
        )
    for place in range(inner, codes.size):
        marks[place] = _ANY
    return newlines


@helper
def repeated_runs(codes: NDArray[np.uint32], most: int, distances: NDArray[np.int32], runs: NDArray[np.int32]) -> int:
    """Returns how many runs of positions there are whose four code points were there not long before.

    most: the length of the longest unit. distances: gets for each position at most the distance to the last place of
    its four code points; less if others fall into the same slot of a table. runs: gets beginning and length of each
    run (runs, 2).
    """
    bits = _LEAST_BITS
    while bits < _MOST_BITS and 1 << bits < 8 * most:
        bits += 1
    shift = np.uint64(64 - bits)
    last = np.full(1 << bits, _FAR, dtype=np.int32)
    found = length = 0
    gram = np.uint64(0)
    for place in range(codes.size):
        gram = (gram << np.uint64(16)) ^ np.uint64(codes[place])  # What a code point adds is gone after four more.
        begin = place - (GRAM - 1)
        if begin < 0:
            continue
        slot = (gram * _MIXING) >> shift
        distance = begin - last[slot]
        last[slot] = begin
        distances[begin] = distance
        if distance <= most + 1:
            length += 1
        elif length:
            runs[found, 0], runs[found, 1] = begin - length, length
            found += 1
            length = 0
    if length:
        runs[found, 0], runs[found, 1] = codes.size - (GRAM - 1) - length, length
        found += 1
    distances[codes.size - (GRAM - 1) :] = -_FAR
    return found


@inlined
def are_copied(distances: NDArray[np.int32], offset: int, length: int) -> bool:
    """Returns whether four code points in the second copy of a unit may be in the third and the fourth too."""
    third, fourth = offset + length, offset + 2 * length
    if fourth + GRAM > distances.size:
        return False
    least = min(distances[third], distances[third + 1])
    return bool(max(least, min(distances[fourth], distances[fourth + 1], distances[fourth + 2])) <= length + 1)
