"""Functions as tasks of Ray, and Ray's errors sorted by what they mean here."""

import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from resources.engine.interface import WORKER_ENVIRONMENT
from resources.engine.ray_cluster import load_ray

_PASSED_ON = ("NUMBA_CACHE_DIR",)
_AGAIN = 1.0  # Seconds after which a task that goes on is interrupted, or killed, again.
_KILLING = 30.0  # Seconds for which it is killed again.


@cache
def _task(function: Callable[..., Any]) -> Any:
    """Returns a function as one of Ray's, which is sent to the cluster once; Ray itself never tries it again."""
    return load_ray().remote(num_cpus=1, max_retries=0)(function)


def remote(function: Callable[..., Any], memory: int, **more: Any) -> Any:
    """Returns a function as a task of one core and so many bytes. more: options of Ray's."""
    environment = WORKER_ENVIRONMENT | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return _task(function).options(memory=memory, runtime_env={"env_vars": environment}, **more)


def cancel(references: Sequence[Any], seconds: float) -> None:
    """Interrupts tasks of this process, and waits at most so many seconds for their end; then they are killed.

    The cancellation runs in another task. If this process cancelled in its own thread while a task ends, Ray would find
    that task gone and end the process (`Check failed: it != submissible_tasks_.end()`, Ray's pull request 54798). It is
    repeated, since an interrupt may be lost: Ray reported some as delivered although the task went on.
    """
    asking = remote(_cancel, 0, num_cpus=0).remote(list(references), seconds)
    load_ray().wait([*references, asking], num_returns=len(references) + 1, timeout=seconds)


def _cancel(references: Sequence[Any], seconds: float) -> None:
    ray, left, until = load_ray(), list(references), time.monotonic() + seconds
    while left and time.monotonic() < until + _KILLING:
        too_long = time.monotonic() >= until
        for reference in left:
            ray.cancel(reference, force=too_long)
        _, left = ray.wait(left, num_returns=len(left), timeout=min(_AGAIN, seconds), fetch_local=False)


def lost_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of a task whose machine was lost."""
    errors = load_ray().exceptions
    return errors.NodeDiedError, errors.LocalRayletDiedError, errors.ObjectLostError


def death_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of a task whose process died, by its own fault or by that of another on its machine."""
    errors = load_ray().exceptions
    return errors.WorkerCrashedError, errors.OutOfMemoryError


def in_words(error: Exception) -> str:
    """Returns the last line of what Ray says, which is the error itself after the traceback of its worker."""
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
