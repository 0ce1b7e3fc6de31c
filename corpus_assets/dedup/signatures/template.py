"""The shingles of a template as a table for kernels, which leave them out."""

import numpy as np
from numpy.typing import NDArray

NOTHING: NDArray[np.uint64] = np.empty(0, np.uint64)
"""No template."""


def table_of(template: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns a table of hashes for `kernels.template.without`; an empty one of none."""
    if not len(template):
        return np.empty(0, dtype=np.uint64)
    from corpus_assets.dedup.kernels.template import fill

    table = np.zeros(1 << (2 * len(template)).bit_length(), dtype=np.uint64)
    fill(np.array(template, dtype=np.uint64), table)
    return table
