"""numba for a process that compiles kernels for others and calls none: a third less work for the same functions.

numba compiles every function that it meets to machine code, since Python might call it, and optimises its intermediate
code before and after merging it into its callers. Here only functions that Python calls are optimised and compiled to
machine code; by then the functions that they call are merged into them. Written for the version of numba that `lighten`
looks for.
"""

from importlib.metadata import version
from typing import Any, cast

from numba.core import codegen
from numba.core.registry import cpu_target
from typing_extensions import override

_Library: Any = codegen.JITCodeLibrary
_VERSION = "0.68."
_WRAPPER = "_ZN7cpython"  # how names begin of what Python calls


class _Unrun(_Library):  # type: ignore[misc]
    """The code of one function and of those that it calls."""

    @override
    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    @override
    def _optimize_final_module(self) -> None:
        if self._is_called_by_python():
            super()._optimize_final_module()

    @override
    def _finalize_final_module(self) -> None:
        if self._is_called_by_python():
            super()._finalize_final_module()
        else:
            self._finalize_dynamic_globals()
            self._finalized = True

    @override
    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _is_called_by_python(self) -> bool:
        functions = self._final_module.functions
        return any(one.name.startswith(_WRAPPER) and not one.is_declaration for one in functions)


def lighten() -> None:
    """Makes this process compile that way; it cannot call the results. Does nothing with another numba."""
    if version("numba").startswith(_VERSION):
        cast(Any, codegen).JITCPUCodegen._library_class = _Unrun
        cpu_target.target_context.codegen().set_env = _set_no_environment


def _set_no_environment(name: str, environment: Any) -> None:
    """Objects of Python that code names are set where it is called."""
