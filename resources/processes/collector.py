"""Settings of Python's cycle collector."""

import gc

_YOUNG_OBJECTS = 20_000


def calm_collector() -> None:
    """Has the collector leave out what is loaded by now, and look at new objects less often.

    For processes that hold many thousands of records for long. By default it looks at 700 new objects at a time, and
    again and again at all others, which is a third of the time of a plan over 10,000 shards.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 10, 10)
