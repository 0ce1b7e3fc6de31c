"""A piece of work in a worker: its result, or its error, goes to another process."""

import pickle
from collections.abc import Callable
from typing import Any


def attempt(function: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    """Returns the result of a function for an item, or the error that it raises."""
    try:
        return function(item), None
    except Exception as error:
        try:
            pickle.dumps(error)
        except Exception:
            return None, RuntimeError(f"{type(error).__name__}: {error}")
        return None, error
