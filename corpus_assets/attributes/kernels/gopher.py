"""All counts of Gopher's rules for a text, in one call."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from corpus_assets.attributes.kernels.ngrams import measure_ngrams, number_stretches
from corpus_assets.attributes.kernels.text_lines import measure_text_lines
from corpus_assets.attributes.kernels.units import split_words
from corpus_assets.attributes.kernels.word_measures import measure_words, median_length
from resources.kernels.jit import ahead, kernel


@ahead(f"{CODES}, uint8[::1], uint32[::1], boolean")
@kernel
def measure_text(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], required: NDArray[np.uint32], merged: bool
) -> tuple[NDArray[np.int64], tuple[int, int, int, int, int], tuple[int, int, int, int, int], float]:
    """Returns what `measure_ngrams` does; words, their letters, and what `measure_words` counts; lines; median length.

    required: words as `measure_words` takes them. merged: lines as `measure_text_lines` takes them.
    """
    starts, ends = split_words(codes, flags)
    lengths, letters = np.empty(starts.size, dtype=np.int64), 0
    for word in range(starts.size):
        lengths[word] = ends[word] - starts[word]
        letters += lengths[word]
    numbers, counts, firsts = number_stretches(codes, starts, ends)
    ngrams = measure_ngrams(numbers, counts, lengths)
    symbols, alphabetic, wanted = measure_words(codes, flags, (starts, ends), (counts, firsts), required)
    words = (starts.size, letters, symbols, alphabetic, wanted)
    return ngrams, words, measure_text_lines(codes, merged), median_length(lengths)
