"""Settings of Python's cycle collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG_OBJECTS = 20_000


def calm_collector() -> None:
    """Makes the collector skip existing objects, and examine new ones less often.

    For processes that hold many thousands of records for long. By default the collector runs after every 700 new
    objects and repeatedly examines all others, which takes a third of the time of a plan over 10,000 shards.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 10, 10)
    gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """Keeps the collector from examining what modules make when they are loaded, since nearly all of it stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
