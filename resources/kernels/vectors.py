"""Operations of kernels for which numba has no name: on runs of 64 bytes, and on the bits that tell about each.

LLVM has them on every processor, and where the processor has vectors they are an instruction or a few.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from resources.kernels.jit import operation

RUN: Final = 64
"""Bytes of a run."""

_BYTES: Final = ir.VectorType(ir.IntType(8), RUN)
_WORD: Final = ir.IntType(64)


def _of_run(write: Callable[[Any, Any, Any], Any]) -> Callable[[NDArray[np.uint8]], np.uint64]:
    """Returns an operation on the first 64 bytes of an array that gives a bit for each, the first in the lowest bit.

    write: writes the comparison of the bytes with zeros, given LLVM's builder and both.
    """

    def operated(_: Any, array: Any) -> Any:
        from numba import types

        def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            run = builder.load(builder.bitcast(data, _BYTES.as_pointer()), align=1)
            return builder.bitcast(write(builder, run, ir.Constant(_BYTES, [0] * RUN)), _WORD)

        return (types.uint64(array), written) if array.layout == "C" else None

    return cast(Callable[[NDArray[np.uint8]], np.uint64], operation(operated))


def _of_word(write: Callable[[Any, Any], Any]) -> Callable[[np.uint64], np.uint64]:
    """Returns an operation on a word. write: writes it, given LLVM's builder and the word."""

    def operated(_: Any, __: Any) -> Any:
        from numba import types

        def written(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return write(builder, arguments[0])

        return types.uint64(types.uint64), written

    return cast(Callable[[np.uint64], np.uint64], operation(operated))


not_zero: Final = _of_run(lambda builder, run, zeros: builder.icmp_unsigned("!=", run, zeros))
"""Returns which of the first 64 bytes of an array are not zero."""

not_ascii: Final = _of_run(lambda builder, run, zeros: builder.icmp_signed("<", run, zeros))
"""Returns which of the first 64 bytes of an array are 0x80 or more."""

first_bit: Final = _of_word(lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 0)))
"""Returns the number of the lowest bit of a word; 64 if it has none."""

count_bits: Final = _of_word(lambda builder, word: builder.ctpop(word))
"""Returns how many bits of a word are 1."""
