"""The viewer of a corpus at a port of this machine."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from corpus_assets.viewer.app import standing_alone
from tests.ports import free_ports


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yields the address of a server, without a path, which ends with the context."""
    (port,) = free_ports(1)
    app = standing_alone(folder / "corpus.yaml", "127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
