"""Ray clusters of several raylets on this machine, for tests: each with a scratch folder of its own."""

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

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
            scratch = folder / f"scratch-{number}"
            scratch.mkdir(parents=True, exist_ok=True)
            made.add_node(num_cpus=1, env_vars={"TMPDIR": str(scratch)}, **ARGUMENTS)
        made.wait_for_nodes()
    except Exception:
        made.shutdown()
        raise
    return made


def wait_until(holds: Callable[[], bool], seconds: float = 100.0) -> None:
    """Waits for something that another process does; fails if it takes that long."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
