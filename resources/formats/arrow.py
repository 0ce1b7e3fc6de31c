"""Arrays of pyarrow made from buffers: `pyarrow.array` loads pandas first, which takes a third of a second."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[Any]) -> Any:
    """Returns a one-dimensional array of numbers that shares their memory."""
    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(whole.dtype), len(whole), [None, pa.py_buffer(whole)])


def strings(values: Sequence[str]) -> Any:
    """Returns an array of texts."""
    encoded = [value.encode() for value in values]
    ends = np.fromiter(accumulate(map(len, encoded), initial=0), np.int32, len(encoded) + 1)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))
