"""Statistics of rows that a test has in memory."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.rows.layouts import Layout
from corpus_assets.tokenize.rows.recount import ArrayStatistics


def count(blocks: Iterable[NDArray[np.int32]], layout: Layout, **options: Any) -> ArrayStatistics:
    """Returns the statistics of all blocks, each int32 (rows, channels, L); options: see `ArrayStatistics`."""
    statistics = ArrayStatistics(layout, **options)
    for block in blocks:
        statistics.add(block)
    return statistics
