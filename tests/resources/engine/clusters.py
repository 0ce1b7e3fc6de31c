"""Ray clusters of several raylets on this machine, for tests: each with folders of its own, as a machine has."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

from resources.engine.ray_task import serve
from resources.kernels.cache_folder import cache_base

RAYLET = "raylet"
ARGUMENTS: dict[str, Any] = {"object_store_memory": 100 << 20, "memory": 8 << 30}


@contextmanager
def cluster(folder: Path, raylets: int = 2) -> Iterator[Any]:
    """A head without cores, and raylets of one core each; tried twice, as one may not start on a busy machine."""
    pytest.importorskip("ray", reason="it comes with the extra `ray`")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    made = None
    for left in (1, 0):
        with contextlib.suppress(Exception) if left else contextlib.nullcontext():
            made = _started(folder, raylets)
            break
    assert made is not None
    try:
        yield made
    finally:
        made.shutdown()


def _started(folder: Path, raylets: int) -> Any:
    cluster_utils: Any = import_module("ray.cluster_utils")

    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, **ARGUMENTS, "include_dashboard": False}
    )
    try:
        for number in range(raylets):
            made.add_node(num_cpus=1, env_vars=own_folders(folder / f"machine-{number}"), **ARGUMENTS)
        made.wait_for_nodes()
    except Exception:
        made.shutdown()
        raise
    return made


def own_folders(machine: Path) -> dict[str, str]:
    """The environment of a machine that shares no folder with others but that of compiled code."""
    (machine / "scratch").mkdir(parents=True, exist_ok=True)
    return {
        "TMPDIR": str(machine / "scratch"),
        "XDG_CACHE_HOME": str(machine / "cache"),
        "NUMBA_CACHE_DIR": str(cache_base()),
    }


def copies(machine: Path) -> list[str]:
    """Names of the copies of stored files that a machine keeps."""
    found = (machine / "cache/corpus-assets/objects").glob("*")
    return [path.name for path in found if not path.name.startswith(".")]


def lose_when_busy(made: Any, raylet: Any) -> None:
    """Kills a raylet and its workers while one of them does a task."""
    stopped: list[psutil.Process] = []

    def at_work() -> bool:
        stopped.extend(_stopped_at_work(raylet))
        return bool(stopped)

    wait_until(at_work)
    made.remove_node(raylet, allow_graceful=False)
    for worker in stopped:
        worker.kill()


def _stopped_at_work(raylet: Any) -> list[psutil.Process]:
    """Stops the workers that do a task; they cannot end it then."""
    (process,) = raylet.all_processes[RAYLET]
    found = []
    for worker in psutil.Process(process.process.pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if _works(worker):
                worker.suspend()
                if _works(worker):
                    found.append(worker)
                else:
                    worker.resume()
    return found


def _works(worker: psutil.Process) -> bool:
    """Returns whether a worker does a task, which Ray writes into its name."""
    return " ".join(worker.cmdline()).startswith(f"ray::{serve.__name__}")


def wait_until(holds: Callable[[], bool], seconds: float = 100.0) -> None:
    """Waits for something that another process does; fails if it takes that long."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
