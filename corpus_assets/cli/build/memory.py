"""The memory that a build may take, in words, before it starts."""

from contextlib import suppress

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import size
from resources.engine.memory import most_of, share_of


def memory_words(corpus: Corpus) -> str:
    """Returns how much memory the workers of a machine may take together, and whether this machine has it.

    The engine on a cluster checks itself whether machines have that memory.
    """
    import psutil

    engine = corpus.engine
    total = None if corpus.config.engine.kind == "ray" else psutil.virtual_memory().total
    return in_words(engine.workers_per_machine, corpus.config.engine.memory, engine.own_memory, total)


def resident() -> int:
    """Returns the bytes of memory that this process and its descendants hold now; shared pages count for each.

    Processes that cannot be looked at are left out: a build goes on without the number.
    """
    import psutil

    found = 0
    with suppress(psutil.Error, OSError):
        process = psutil.Process()
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error, OSError):
                found += one.memory_info().rss
    return found


def in_words(workers: int, memory: int, own: int, total: int | None) -> str:
    """Returns the memory of a machine's workers.

    memory: `engine.memory`. own: what each takes before it holds data. total: the machine's; None if that of a cluster.
    All in bytes.
    """
    workers, most = max(1, workers), most_of(memory, workers, own)
    where = " on each machine" if total is None else ""
    many = f"{workers} workers, each" if workers > 1 else "1 worker"
    parts = f"{many} with about {size(own)} of its own and {size(share_of(memory, workers, own))} for data"
    said = f"memory: up to {size(most)}{where} ({parts})"
    if most > memory:
        said += f"; engine.memory is only {size(memory)}: raise it, or lower engine.workers"
    if total is not None and most > total:
        said += f", but this machine has {size(total)}; lower engine.workers or engine.memory"
    return said
