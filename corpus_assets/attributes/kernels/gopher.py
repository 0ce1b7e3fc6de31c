"""All counts of Gopher's rules for a text, in one call."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from corpus_assets.attributes.kernels.ngrams import LEAST, MOST, measure_ngrams, number_stretches
from corpus_assets.attributes.kernels.text_lines import measure_text_lines
from corpus_assets.attributes.kernels.units import fill_words
from corpus_assets.attributes.kernels.word_measures import measure_words, median_length, sums_of_lengths
from resources.kernels.jit import ahead, kernel

MOST_COMMON = 4
"""Words of the longest n-grams of which the most common one counts; of longer ones all that are repeated do."""


@ahead(f"{CODES}, uint8[::1], uint32[::1], boolean")
@kernel
def measure_text(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], required: NDArray[np.uint32], merged: bool
) -> NDArray[np.float64]:
    """Returns the measures in the order of the tagger's types (19,); -1 for n-grams of more words than the text has.

    required: words as `measure_words` takes them. merged: lines as `measure_text_lines` takes them.
    """
    # Room for the words that the text may have: pages that are not written take no memory.
    starts, ends = np.empty(codes.size // 2 + 1, dtype=np.int32), np.empty(codes.size // 2 + 1, dtype=np.int32)
    many = fill_words(codes, flags, starts, ends)
    starts, ends = starts[:many], ends[:many]
    numbers, counts, firsts = number_stretches(codes, starts, ends)
    symbols, alphabetic, required_words = measure_words(codes, flags, (starts, ends), (counts, firsts), required)
    median, sums = median_length(starts, ends), sums_of_lengths(starts, ends)
    # From here on neither beginnings nor ends are needed, so they are free before there are n-grams.
    letters, ngrams = int(sums[many]), measure_ngrams(numbers, counts, sums)
    lines, bullets, ellipses, again, covered = measure_text_lines(codes, merged)
    measures = np.full(MOST - LEAST + 11, -1.0)
    for n in range(LEAST, MOST + 1):
        most_common, repeated, all_letters = ngrams[n]
        if all_letters >= 0:
            common = n <= MOST_COMMON
            measures[n - LEAST] = most_common / max(letters, 1) if common else repeated / max(all_letters, 1)
    words = max(many, 1)
    others = measures[MOST - LEAST + 1 :]
    others[0], others[1], others[2] = codes.size, many, median
    others[3], others[4], others[5] = symbols / words, alphabetic / words, required_words
    others[6], others[7], others[8] = bullets / lines, ellipses / lines, again / lines
    others[9] = covered / max(letters, 1)
    return measures
