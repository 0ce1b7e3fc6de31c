"""networkit, loaded late and without its plots."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, cast

_OF_PLOTS = "matplotlib"


def networkit() -> Any:
    """Returns the package. Its plots would load matplotlib and pandas for half a second; it works without them."""
    modules = cast(dict[str, ModuleType | None], sys.modules)
    hidden = _OF_PLOTS not in modules
    if hidden:
        modules[_OF_PLOTS] = None
    try:
        return import_module("networkit")
    finally:
        if hidden:
            del modules[_OF_PLOTS]
