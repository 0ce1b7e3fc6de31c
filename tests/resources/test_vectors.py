"""Operations on runs of 64 bytes and on words, against Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.kernels.jit import kernel
from resources.kernels.vectors import RUN, count_bits, first_bit, not_ascii, not_zero


@kernel
def looked_at(run: NDArray[np.uint8], found: NDArray[np.uint64]) -> None:
    found[0], found[1] = not_zero(run), not_ascii(run)
    found[2], found[3] = first_bit(found[0]), count_bits(found[0])


@given(st.binary(min_size=RUN, max_size=RUN + 5), st.integers(0, 70))
def test_bits_tell_about_the_first_bytes(content: bytes, zeros: int) -> None:
    run, found = np.frombuffer(bytes(zeros) + content, dtype=np.uint8), np.empty(4, dtype=np.uint64)
    looked_at(run, found)
    first = run[:RUN].tolist()
    bits = sum((byte != 0) << place for place, byte in enumerate(first))
    assert found.tolist() == [
        bits,
        sum((byte >= 0x80) << place for place, byte in enumerate(first)),
        next((place for place, byte in enumerate(first) if byte), RUN),
        bits.bit_count(),
    ]
