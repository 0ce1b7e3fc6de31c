"""Ports for servers that tests and benchmarks start."""

import os
import random
import socket
from contextlib import ExitStack, suppress

_FIRST, _LAST, _WORKERS = 10_081, 32_768, 8  # Browsers open no page at port 10080.


def free_ports(count: int) -> list[int]:
    """Returns ports that nobody listens at now.

    A server opens them a while later, so they are none that the system gives to clients meanwhile (from 32,768 on), and
    tests that run beside these take others.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % _WORKERS
    mine = range(_FIRST + worker, _LAST, _WORKERS)
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            one, port = held.enter_context(socket.socket()), random.SystemRandom().choice(mine)
            with suppress(OSError):
                one.bind(("127.0.0.1", port))
                found.append(port)
        return found
