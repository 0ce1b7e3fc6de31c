"""numba, loaded late: the asset graph loads without it, and compiled kernels are kept on disk (kernel_cache.py).

Kernel modules import `kernel` from here; plain modules import kernel modules inside functions.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

from resources.kernels.processor import CPU, FEATURES, WIDE

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compiles a function of numbers and arrays on its first call; keeps the compiled code on disk."""
    _prepare()
    from numba.core.compiler_lock import global_compiler_lock

    from resources.kernels.kernel_cache import KernelCache, cache_folder, turn

    dispatcher = _njit(function, nogil=True, no_cfunc_wrapper=True)
    folder = cache_folder(function.__module__)
    dispatcher._cache = KernelCache(function.__qualname__, folder)
    compile_now = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        # The locks are always taken in this order, because a kernel that calls another compiles it while it holds them.
        with global_compiler_lock:
            if dispatcher._cache.holds(signature):
                return compile_now(signature)
            with _waiting, turn(folder):
                return compile_now(signature)

    dispatcher.compile = compile_once
    return cast(F, dispatcher)


class _Stopwatch:
    """Seconds that this process waited for kernels to compile; nested compilations count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._started = 0.0

    def __enter__(self) -> None:
        if not self._depth:
            self._started = time.monotonic()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.monotonic() - self._started


_waiting = _Stopwatch()


def compile_seconds() -> float:
    """Returns how long this process waited so far for kernels to be compiled, by itself or by another process."""
    return _waiting.seconds


def ahead(*types: str) -> Callable[[F], F]:
    """Declares the argument types, in numba's notation, for which a kernel is compiled before its first call.

    A call with other types works too, but compiles first. See resources/kernels/compiling.py.

        @ahead("uint8[::1], int64")
        @kernel
        def ...
    """

    def declared(dispatcher: F) -> F:
        cast(Any, dispatcher).ahead = types
        return dispatcher

    return declared


def load() -> None:
    """Loads numba and what the first call of a kept kernel loads, for processes that others are forked from."""
    _prepare()
    from numba.core.registry import cpu_target

    from resources.kernels.kernel_cache import load_runtime

    load_runtime(cpu_target.target_context)


def is_loaded() -> bool:
    """Returns whether this process has loaded numba, which takes it more than a second."""
    return "numba" in sys.modules


def read_only(scalar: str) -> str:
    """Returns numba's type of a read-only one-dimensional array, such as numpy makes from `bytes`."""
    return f"Array({scalar}, 1, 'C', readonly=True)"


def helper(function: F) -> F:
    """Compiles a function that only kernels call, apart from them. Python cannot call it."""
    _prepare()
    return cast(F, _njit(function, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True))


def inlined(function: F) -> F:
    """Compiles a function into each kernel that calls it: LLVM does not vectorise a loop that contains a call."""
    _prepare()
    return cast(F, _njit(function, nogil=True, forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True))


def merged(function: F) -> F:
    """Merges a function into its only caller before compilation; otherwise LLVM would optimise its code twice."""
    _prepare()
    return cast(F, _njit(function, inline="always"))


def operation(function: F) -> F:
    """Declares an operation for kernels by numba's types of its arguments, and by LLVM's instructions for it."""
    _prepare()
    from numba.extending import intrinsic

    return cast(F, intrinsic(function))


def _njit(function: Callable[..., Any], **options: Any) -> Any:
    """Returns numba's dispatcher; wrappers that nobody calls are left out, since they take time to compile."""
    dispatcher = cast(Any, import_module("numba")).njit(**options)(function)
    dispatcher._compilation_chain_init_hook = _load_no_extensions
    _unite_constants(dispatcher)
    return dispatcher


def _load_no_extensions() -> None:
    """Does nothing where numba would load its extensions, such as awkward: kernels take numbers and arrays alone."""


def _unite_constants(dispatcher: Any) -> None:
    """Lets calls with constants share the code of calls with variables; numba compiles each constant separately."""
    from numba.core import types

    unliteral, template = cast(Any, types).unliteral, dispatcher.get_call_template

    def of_types(args: Any, kws: Any) -> Any:
        return template(tuple(map(unliteral, args)), {name: unliteral(type_) for name, type_ in kws.items()})

    dispatcher.get_call_template = of_types


@cache
def _prepare() -> None:
    """Sets the processor that code is compiled for, before numba is imported."""
    if not {CPU, FEATURES} & os.environ.keys():
        os.environ |= _wide_vectors()
    if is_loaded():  # Other code imported numba first, so it has already read the environment.
        sys.modules["numba"].config.reload_config()


def _wide_vectors() -> dict[str, str]:
    """Returns settings that make LLVM use the whole width of 512-bit units; none for processors without them."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if not features.get("avx512f"):
        return {}
    return {CPU: binding.get_host_cpu_name(), FEATURES: f"{features.flatten()}{WIDE}"}
