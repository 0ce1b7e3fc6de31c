"""Samples of shingles by their hash, text by text (definition: containment/samples.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.polynomial import begin, mix64, slide
from corpus_assets.dedup.kernels.template import without
from resources.kernels.jit import ahead, kernel

U64 = np.uint64
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Concatenated texts, and the starts of each and the end of the last: (texts + 1,)."""

_STEP = 1024
_SEEN = 4096


@ahead("Tuple((uint8[::1], int64[::1])), UniTuple(int64, 2), Tuple((uint64, uint64[::1])), uint64[::1], int64[::1]")
@kernel
def sample(
    texts: Texts,
    shingling: tuple[int, int],
    chosen: tuple[U64, NDArray[U64]],
    hashes: NDArray[U64],
    ends: NDArray[np.int64],
) -> None:
    """Writes the hashes of the windows that have no bit of a mask into `hashes`, and where each text's end: `ends`.

    `shingling`: 1 for words or 0 for code points, and the width. `hashes` has room for a hash per byte. Most
    repetitions are left out, so that a text which repeats itself fills no memory; others stay. `chosen`: the mask, and
    shingles to leave out (`template.fill`), or none. A document with no other shingle is taken as a whole.
    """
    text, bounds = texts
    by_word, width = shingling
    mask, table = chosen
    values = np.empty(_STEP, dtype=U64)
    seen = np.empty(_SEEN, dtype=U64)
    length = int(np.int64(0))  # not a literal, for which numba would compile a variant
    for document in range(bounds.size - 1):
        # No hash that is sampled has a bit of the mask, so the mask stands for none.
        seen[:] = mask
        stop = bounds[document + 1]
        window = begin(text, bounds[document], stop, by_word, width)
        kept = 0
        for attempt in range(2):
            while window[3] <= stop:
                count, window = slide(text, stop, by_word, window, values)
                if table.size and attempt == 0:
                    count = without(values, count, table)
                kept += count
                for place in range(count):
                    value = mix64(values[place])
                    if value & mask:
                        continue
                    slot = (value >> U64(20)) % U64(_SEEN)
                    if seen[slot] != value:
                        seen[slot] = value
                        hashes[length] = value
                        length += 1
            if kept > 0:
                break
            window = begin(text, bounds[document], stop, by_word, width)
        ends[document] = length
