"""What memory a build may take, in words, before it takes it."""

from contextlib import suppress

from corpus_assets.corpus import Corpus
from corpus_assets.numbers import size
from resources.engine.interface import OWN_MEMORY


def memory_words(corpus: Corpus) -> str:
    """Returns how much memory the workers of this machine may take together, and whether it has that."""
    import psutil

    return in_words(corpus.engine.workers_per_machine, corpus.config.engine.memory, psutil.virtual_memory().total)


def resident() -> int:
    """Returns the bytes of memory that this process and all below it hold now; pages that they share count for each."""
    import psutil

    process, found = psutil.Process(), 0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            found += one.memory_info().rss
    return found


def in_words(workers: int, shared: int, total: int) -> str:
    """Returns the memory of some workers. shared: `engine.memory`. total: that of the machine. All in bytes."""
    most = shared + workers * OWN_MEMORY
    each = f"{workers} worker{'s' if workers != 1 else ''} with about {size(OWN_MEMORY)}" + " each" * (workers != 1)
    said = f"memory: up to {size(most)} ({size(shared)} by engine.memory, {each})"
    if most <= total:
        return said
    return f"{said}, but this machine has {size(total)}; lower engine.workers or engine.memory"
