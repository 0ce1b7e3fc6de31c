"""A piece of work in a worker: what comes of it goes to another process, an error included."""

import pickle
from collections.abc import Callable
from typing import Any


def attempt(function: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    """Returns what a function makes of an item, or else the error that it raises."""
    try:
        return function(item), None
    except Exception as error:
        try:
            pickle.dumps(error)
        except Exception:
            return None, RuntimeError(f"{type(error).__name__}: {error}")
        return None, error
