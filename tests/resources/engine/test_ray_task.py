"""What runs in a worker of Ray, without Ray."""

import pickle
import signal
from pathlib import Path

from resources.engine.ray_task import ground_of, serve
from resources.storage.local.store import LocalStorage


def _handler(_: int) -> bool:
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_worker_that_was_started_to_ignore_interrupts_heeds_them(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        [done] = serve(ground_of(LocalStorage(tmp_path)), pickle.dumps((_handler, [0])), 0.0).done
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.result is True
