"""Contenders in turns, the best of whose rounds counts, in CPU-seconds."""

import time
from collections.abc import Callable, Mapping


def seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def best(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    taken = [{name: seconds_of(work) for name, work in contenders.items()} for _ in range(rounds)]
    return {name: min(turn[name] for turn in taken) for name in contenders}
