"""Helpers of kernels that must vanish into their callers: LLVM vectorises no loop with a call in it."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def inlined(function: F) -> F:
    """Compile a function into each kernel that calls it."""
    return cast(F, njit(nogil=True, forceinline=True)(function))
