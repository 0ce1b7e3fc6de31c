"""The length of the cleaned form of a text, counted in one pass.

Definition: `resources/documents/slimpajama_cleaning.py`.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from resources.documents.slimpajama_cleaning import clean

_LAST_SPACE = 0x3000
"""No code point past this one is whitespace, or becomes several in lower case."""


def cleaned_length(encoded: bytes) -> int:
    """Returns the number of code points of `clean(text)` for a text given as UTF-8."""
    from corpus_assets.normalize.kernels.scan import cleaned_length as count

    return count(np.frombuffer(encoded, dtype=np.uint8), *_classes())


@cache
def _classes() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Returns the tables for kernels/scan.py: by first byte (256,), and by code point."""
    from corpus_assets.normalize.kernels.scan import DOUBLED, DROPPED, KEPT, LOOK_UP, SPACE

    points = np.full(_LAST_SPACE + 1, KEPT, dtype=np.uint8)
    leads = np.full(256, KEPT, dtype=np.uint8)
    leads[0x80:0xC0] = DROPPED
    for point in range(len(points)):
        between = clean(f"a{chr(point)}a")[1:-1]
        points[point] = SPACE if between == " " else (DROPPED, KEPT, DOUBLED)[len(between)]
        if point < 0x80:
            leads[point] = points[point]
        elif points[point] != KEPT:
            leads[chr(point).encode()[0]] = LOOK_UP
    return leads, points
