"""Waits for the store, since a Dagster step may start while another process builds."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from corpus_assets.corpus.corpus import Corpus
from resources.errors import StorageError

LIMIT_SECONDS = 900.0
_PAUSES = (1.0, 3.0)
"""Seconds between two attempts; random, so that steps that began together do not collide for ever."""
_HELD = "is building on this store"


@contextmanager
def store_of_ones_own(
    corpus: Corpus,
    say: Callable[[str], None],
    *,
    limit: float = LIMIT_SECONDS,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Holds the store; while another process does, says once who it is and waits, at most `limit` seconds.

    `StorageError` names who holds it after that. Any other fault of the store is raised at once.
    """
    with ExitStack() as held:
        since, said = clock(), False
        while True:
            try:
                held.enter_context(corpus.exclusive())
                break
            except StorageError as error:
                if _HELD not in str(error):
                    raise
                if (waited := clock() - since) >= limit:
                    raise StorageError(f"{error}; this step waited {waited:.0f} s for it") from None
                if not said:
                    say(f"{error}; this step waits for it, at most {limit:.0f} s")
                    said = True
                pause(random.uniform(*_PAUSES))
        yield
