"""`corpus ui` on a loopback port, and the questions a browser asks it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import psutil

from tests.ports import free_ports

START_SECONDS = 120
CORPUS = (sys.executable, "-c", "from corpus_assets.cli.main import main; main()")


class Server:
    """A running web server; `ask` sends GraphQL. process: `corpus ui`. folder: that of corpus.yaml."""

    def __init__(self, port: int, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.folder = folder
        self.process = process

    def processes(self, part: str = "") -> list[psutil.Process]:
        """All processes of this `corpus ui`, runs and their workers too, whose command has a part in it."""
        return [one for one in psutil.process_iter() if _is_of(one, self.folder / ".dagster_home", part)]

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of a GraphQL answer; AssertionError when it has errors."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        with urlopen(Request(f"{self.url}/graphql", body, {"content-type": "application/json"}), timeout=60) as answer:
            found = json.load(answer)
        assert not found.get("errors"), found["errors"]
        return found["data"]

    def wait(self) -> None:
        """Return when the code location is loaded."""
        query = "{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"
        for _ in range(START_SECONDS):
            try:
                entries = self.ask(query)["workspaceOrError"]["locationEntries"]
            except (URLError, ConnectionError):
                entries = []
            if entries and all(entry["loadStatus"] == "LOADED" for entry in entries):
                return
            time.sleep(1)
        raise AssertionError("the web server did not come up")


def _is_of(process: psutil.Process, home: Path, part: str) -> bool:
    with suppress(psutil.Error):
        return process.environ().get("DAGSTER_HOME") == str(home) and part in " ".join(process.cmdline())
    return False


@contextmanager
def serving(
    folder: Path, corpus: Sequence[str] = CORPUS, environment: Mapping[str, str] = os.environ
) -> Iterator[Server]:
    """`corpus ui` in a folder with a corpus.yaml, in a process group of its own that ends with the test.

    corpus: how the command is called, with which environment; by default that of this interpreter.
    """
    (port,) = free_ports(1)
    command = [*corpus, "ui", "--port", str(port)]
    environment = {key: value for key, value in environment.items() if key not in {"DAGSTER_HOME", "CORPUS_CONFIG"}}
    with (folder / "ui.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    server = Server(port, folder, process)
    try:
        server.wait()
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
