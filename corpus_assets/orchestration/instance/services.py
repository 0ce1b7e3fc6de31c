"""The processes of `corpus ui`: Dagster's code server and daemon, and its web server with the viewer in it.

They are those of `dagster dev`, which does not start again what has ended, ends with exit code 0 when one of them does,
and leaves runs behind.
"""

import logging
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from uuid import uuid4

import dagster as dg
import psutil
import yaml
from dagster._cli.proxy_server_manager import ProxyServerManager
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.remote_representation.grpc_server_registry import ServerRegistryEntry
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.server import GrpcServerProcess
from dagster._utils.log import configure_loggers
from dagster_shared.ipc import get_ipc_shutdown_pipe, open_ipc_subprocess, send_ipc_shutdown_message

from resources.errors import CorpusError

MARK = "CORPUS_UI_MARK"
"""Environment variable of all processes of one `corpus ui`, also those that lost their parent."""

RESTARTS, WITHIN = 3, 600.0
"""How often a process that ended is started again within so many seconds."""

_LOOK_EVERY = 2.0
_RELOAD_SECONDS = 120
_END_SECONDS = 30.0
_RUN = "multiprocessing.spawn"
"""The part of the command of runs that the code server started."""

_log = logging.getLogger("dagster")


class Ends:
    """Counts how often a service has ended. `CorpusError` if that is too often to start it again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._times: deque[float] = deque()

    def note(self, how: str) -> None:
        """Notes that it has ended, and says that it is started again."""
        now = time.monotonic()
        while self._times and now - self._times[0] > WITHIN:
            self._times.popleft()
        self._times.append(now)
        ended = f"{self._name} has ended ({how})"
        if len(self._times) > RESTARTS:
            times = f"for the {len(self._times)}th time within {WITHIN / 60:.0f} minutes"
            raise CorpusError(f"corpus ui ends: {ended} {times}; what it wrote before is above")
        _log.warning("%s; it is started again (%d of %d)", ended, len(self._times), RESTARTS)


def _how(code: int) -> str:
    with suppress(ValueError):
        if code < 0:
            return f"by {signal.Signals(-code).name}"
    return f"with exit code {code}"


class Service:
    """A process that ends when it is told so through a pipe. command: module and arguments."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._command = command
        self._ends = Ends(name)
        self._start()

    def _start(self) -> None:
        theirs, self._pipe = get_ipc_shutdown_pipe()
        parts = [sys.executable, "-m", *self._command, "--shutdown-pipe", str(theirs)]
        self._process = open_ipc_subprocess(parts, pass_fds=[theirs])
        os.close(theirs)

    def look(self) -> None:
        """Starts it again if it has ended; `CorpusError` if it does too often."""
        if (code := self._process.poll()) is not None:
            self._ends.note(_how(code))
            os.close(self._pipe)
            self._start()

    def stop(self) -> None:
        """Tells it to end."""
        with suppress(BrokenPipeError):
            send_ipc_shutdown_message(self._pipe)

    def wait(self) -> None:
        """Waits for its end, and ends it if that takes too long."""
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class CodeServer(ProxyServerManager):
    """The code server: a process that forwards requests to another one, which it restarts when code is reloaded.

    `CorpusError` if it does not start.
    """

    def __init__(self, instance: dg.DagsterInstance, workspace: str) -> None:
        self._ends = Ends("Dagster's code server")
        super().__init__(instance, WorkspaceFileTarget([workspace]), "warning")

    def _initialize_endpoints(self) -> None:
        """Starts it; nobody else looks after it."""
        (origin,) = self._origins
        entry = self._grpc_server_registry.get_grpc_server_entry(origin)  # type: ignore[arg-type]  # no server of others
        if not isinstance(entry, ServerRegistryEntry):
            raise CorpusError(f"Dagster's code server does not start: {entry.error.message.strip()}")
        self._server: GrpcServerProcess = entry.process

    def look(self) -> None:
        """Sends a sign of life, or restarts it or the process behind it; `CorpusError` after too many restarts."""
        client = self._client()
        if (code := self._server.server_process.poll()) is not None:
            self._ends.note(_how(code))
            with _told():
                cast(Any, self._server).start_server_process()
        elif self._is_deserted():
            self._ends.note("nobody answers")
            with _told():
                client.reload_code(_RELOAD_SECONDS)
        else:
            with suppress(DagsterUserCodeUnreachableError):
                client.heartbeat("ping")

    def _client(self) -> DagsterGrpcClient:
        return cast(DagsterGrpcClient, cast(Any, self._server).create_client())

    def _is_deserted(self) -> bool:
        """Returns whether the process behind it has ended; a slow one has not."""
        try:
            self._client().ping("")
        except DagsterUserCodeUnreachableError as error:
            return "UNAVAILABLE" in f"{error} {error.__cause__}"
        return False


@contextmanager
def _told() -> Iterator[None]:
    """Says why a start failed; the next look finds that nothing was started."""
    try:
        yield
    except Exception as error:  # whatever the code of the corpus, or a full machine, makes of a start
        _log.error("Dagster's code server does not start: %s", str(error).strip())


def serve(workspace: str, host: str, port: str) -> None:
    """Runs the services until Ctrl-C or SIGTERM; `CorpusError` if one of them ends again and again.

    workspace: file that names the code location. Nothing that was started stays: runs are interrupted.
    """
    # The last two are as `dagster dev` has them: errors of a code location are shown without Dagster's own frames.
    os.environ.update({MARK: uuid4().hex, "DAGSTER_IS_DEV_CLI": "1", "DAGSTER_verbose": ""})
    configure_loggers(formatter="colored", log_level="INFO")
    try:
        with ExitStack() as held:
            instance = held.enter_context(dg.DagsterInstance.get())
            code = held.enter_context(CodeServer(instance, workspace))
            file = held.enter_context(_workspace(code))
            _watch(code, [*_services(instance, file, host, port)])
    finally:
        _end_all()


@contextmanager
def _workspace(code: CodeServer) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "workspace.yaml"
        file.write_text(yaml.safe_dump({"load_from": code.get_code_server_specs()}), encoding="utf-8")
        yield file


def _services(instance: dg.DagsterInstance, workspace: Path, host: str, port: str) -> Iterator[Service]:
    where = ["--instance-ref", dg.serialize_value(instance.get_ref()), "--code-server-log-level", "warning"]
    shared = ["--log-format", "colored", *where, "--workspace", str(workspace)]
    web = ["corpus_assets.webserver", "--port", port, "--host", host, "--dagster-log-level", "info"]
    yield Service("Dagster's web server", [*web, "--live-data-poll-rate", "2000", *shared])
    yield Service("Dagster's daemon", ["dagster._daemon", "run", "--log-level", "info", *shared])


def _watch(code: CodeServer, services: Sequence[Service]) -> None:
    try:
        while True:
            time.sleep(_LOOK_EVERY)
            code.look()
            for service in services:
                service.look()
    finally:
        for service in services:
            service.stop()
        for service in services:
            service.wait()


def _end_all() -> None:
    """Ends all remaining processes: code servers wait for their runs, which are interrupted."""
    try:
        for one in _marked():
            with suppress(psutil.Error):
                if any(_RUN in part for part in one.cmdline()):
                    one.send_signal(signal.SIGINT)
        psutil.wait_procs(_marked(), timeout=_END_SECONDS)
    finally:
        for one in _marked():
            with suppress(psutil.Error):
                one.kill()


def _marked() -> list[psutil.Process]:
    """Returns all other processes with our mark."""
    return [one for one in psutil.process_iter() if one.pid != os.getpid() and _has_mark(one)]


def _has_mark(process: psutil.Process) -> bool:
    with suppress(psutil.Error, OSError):
        return bool(process.environ().get(MARK) == os.environ[MARK])
    return False


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Runs the services of the workspace, host and port that the command line names, and sets the exit code."""
    parser = ArgumentParser()
    for name in ("workspace", "host", "port"):
        parser.add_argument(name)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        serve(given.workspace, given.host, given.port)
    except KeyboardInterrupt:
        _log.info("stopped")
    except CorpusError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
