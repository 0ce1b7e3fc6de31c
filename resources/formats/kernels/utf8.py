"""Code points of UTF-8 that is known to be valid."""

import numpy as np
from numpy.typing import NDArray

from resources.jit import inlined


@inlined
def decoded(text: NDArray[np.uint8], position: int) -> tuple[int, int]:
    """Returns the code point beyond ASCII that begins at `position` of valid UTF-8, and where the next one does."""
    lead, second = int(text[position]), int(text[position + 1]) & 0x3F
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second, position + 2
    third = int(text[position + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | second << 6 | third, position + 3
    fourth = int(text[position + 3]) & 0x3F
    return (lead & 0x07) << 18 | second << 12 | third << 6 | fourth, position + 4
