"""SlimPajama's cleaning of ASCII, 64 bytes at a time; the definition is resources/documents/slimpajama_cleaning.py."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined
from resources.kernels.vectors import RUN

U8 = np.uint8
U64 = np.uint64
_ONE, _LAST = U64(1), U64(63)


@inlined
def classify(run: NDArray[U8], kept: NDArray[U8], spaces: NDArray[U8]) -> None:
    """Writes of each byte of a run of ASCII whether it is kept, and whether it is whitespace: 1 or 0."""
    for i in range(RUN):
        byte = run[i]
        letter = U8((byte | U8(0x20)) - U8(0x61)) <= U8(25)
        digit = U8(byte - U8(0x30)) <= U8(9)
        space = _is_space(byte)
        spaces[i] = U8(space)
        kept[i] = U8(letter | digit | (byte < U8(0x20)) | (byte == U8(0x7F))) & ~U8(space)


@inlined
def lower(run: NDArray[U8], out: NDArray[U8]) -> None:
    """Writes a run of ASCII in lower case, with U+0020 for whitespace."""
    for i in range(RUN):
        byte = run[i]
        is_upper = U8(byte - U8(0x41)) <= U8(25)
        out[i] = U8(0x20) if _is_space(byte) else (byte | (U8(0x20) if is_upper else U8(0)))


@inlined
def after_spaces(kept: U64, spaces: U64, before: U64) -> tuple[U64, U64]:
    """Returns which bytes of a run come after whitespace, apart from bytes that are dropped.

    kept, spaces: a bit per byte. before: 1 if the first byte of the run does, else 0; returns that of the next run too.
    """
    follow = (spaces << _ONE) | before
    dropped = ~(kept | spaces)
    # The carry of the sum runs through dropped bytes up to the first that is not dropped.
    carried = (follow & dropped) + dropped
    return follow | (carried & ~dropped), U64(carried < dropped) | (spaces >> _LAST)


@inlined
def _is_space(byte: U8) -> bool:
    return bool((byte == U8(0x20)) | (U8(byte - U8(0x09)) <= U8(4)) | (U8(byte - U8(0x1C)) <= U8(3)))
