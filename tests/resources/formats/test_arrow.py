"""Arrays of pyarrow from buffers: equal to those that pyarrow makes, and without pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.formats.arrow import numbers, strings


@given(st.lists(st.integers(-(2**31), 2**31 - 1)), st.sampled_from([1, 2, -1]))
def test_numbers(values: list[int], step: int) -> None:
    array = np.array(values, np.int32)[::step]
    assert numbers(array).equals(pa.array(array))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int64", "float32"])
def test_numbers_keep_their_type(dtype: str) -> None:
    assert numbers(np.arange(3, dtype=dtype)).type == pa.from_numpy_dtype(dtype)


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_strings(values: list[str]) -> None:
    assert strings(values).equals(pa.array(values, pa.string()))


def test_pandas_is_not_loaded() -> None:
    code = (
        "import sys, numpy; from resources.formats.arrow import numbers, strings;"
        "strings(['a', 'b']).take(numbers(numpy.arange(2))); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
