"""Ctrl-C during a build: Dagster holds it back while a run goes on, and forgets it if no step asks before the end."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def interrupts_kept() -> Iterator[Callable[[], None]]:
    """Yields a function that raises KeyboardInterrupt if Ctrl-C came since, whoever handles the signal meanwhile.

    The interpreter writes the number of each signal to a socket before any handler runs. Signals reach only the main
    thread; in another one nothing is kept.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)

    def require_none() -> None:
        with suppress(BlockingIOError):
            if signal.SIGINT in reader.recv(1024):
                raise KeyboardInterrupt

    with reader, writer:
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield require_none
        finally:
            signal.set_wakeup_fd(before)
