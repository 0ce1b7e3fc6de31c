"""The memory of a machine: how much its workers share, each takes before it holds data, and a job may use."""

OWN_MEMORY = 384 << 20
"""Bytes that a worker takes before it holds any data: libraries, compiled kernels, a large tokenizer.

`python -m benchmarks.worker_memory` measures it, and a test holds it against a real worker. Workers share what their
parent process had loaded when they were forked.
"""

RAY_OWN_MEMORY = 512 << 20
"""The same of a worker of Ray, which loads everything itself."""

LEAST_SHARE = 64 << 20
"""Bytes that a job gets even if `engine.memory` has no room for them."""


def share_of(memory: int, workers: int, own: int = OWN_MEMORY) -> int:
    """Returns the bytes of data that a job may hold.

    memory: `engine.memory`, all that a machine's workers take. workers: how many share it. own: what each takes before.
    """
    whole = memory // max(1, workers)
    return max(min(LEAST_SHARE, whole), whole - own)


def most_of(memory: int, workers: int, own: int = OWN_MEMORY) -> int:
    """Returns the bytes that the workers of a machine take at most: `engine.memory`, or more if it is too little."""
    workers = max(1, workers)
    return max(memory, workers * (own + share_of(memory, workers, own)))
