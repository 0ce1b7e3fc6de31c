"""Worker processes of this machine: each has a pipe of its own, and is given several pieces of work at a time.

A message costs the driver more than a small job: it has to wake up, and to get the interpreter from the thread that
reports to Dagster. So work goes to a worker in batches, and it answers in batches, several times a second.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from resources.engine.attempt import attempt
from resources.engine.interface import PRELOADED, WORKER_ENVIRONMENT
from resources.errors import EngineError
from resources.processes.collector import calm_collector

INTERRUPTED = 130
OUT_OF_MEMORY = (
    "If it was the system, for want of memory, its log says so (`dmesg`), and fewer `engine.workers` or a smaller "
    "`engine.memory` help"
)
_UNREAD = "A file that is mapped into memory could not be read: its disk failed, or the file was cut meanwhile"
_WHY: dict[int, str] = {signal.SIGKILL: f". {OUT_OF_MEMORY}", signal.SIGBUS: f". {_UNREAD}"}
_STARTS, _PAUSE = 5, 0.2
_OF_THE_SERVER = (EOFError, ConnectionError, FileNotFoundError)
"""What tells that the fork server has died; any other error is of this process or the machine."""

_UNKNOWN_END = 255
"""The exit code of a process whose fork server has died, as `multiprocessing` says it."""

_TELL_EVERY = 0.05  # seconds
_CONTEXT = multiprocessing.get_context("forkserver")


class WorkerDiedError(Exception):
    """A worker process ended before it answered."""


class Answer(NamedTuple):
    """What became of a piece of work: what the function returned or the error it raised, and its seconds."""

    item: Any
    result: Any
    error: Exception | None
    seconds: float


class Worker:
    """A process that does pieces of work one after the other. interrupted: where one that Ctrl-C reaches says so.

    held: what it was given and has not answered, in order, each item with the seconds that it is expected to take.
    """

    def __init__(self, interrupted: Connection) -> None:
        self.held: deque[tuple[Any, float]] = deque()
        self._heard = time.monotonic()
        self._sends = False
        prepare()
        self._connection, theirs = _CONTEXT.Pipe()
        self._process = _started(theirs, interrupted)
        theirs.close()

    @property
    def load(self) -> float:
        """Seconds that what it holds is expected to take."""
        return sum(seconds for _, seconds in self.held)

    @property
    def silent(self) -> float:
        """Seconds since it last answered, or was given work when it had none; 0 if it holds nothing."""
        return time.monotonic() - self._heard if self.held else 0.0

    def give(self, function: Callable[[Any], Any], items: Sequence[Any], seconds: Sequence[float]) -> None:
        """Sends items to the worker, which calls the function with each.

        seconds: what each is expected to take. Sending to a dead worker does not fail; reading its answers does.
        """
        if not self.held:
            self._heard = time.monotonic()
        self.held.extend(zip(items, seconds, strict=True))
        self._sends = True  # It stays so if an interrupt arrives in the middle of a message.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send((function, items, seconds))
        self._sends = False

    def answers(self) -> list[Answer]:
        """Returns the next answers, at least one, and waits for them; `WorkerDiedError` if there will be none."""
        try:
            done = self._connection.recv()
        except (EOFError, OSError):
            raise WorkerDiedError from None
        self._heard = time.monotonic()
        return [Answer(self.held.popleft()[0], *found) for found in done]

    def end(self) -> str:
        """Cleans up after a process that has died; returns in words how it ended, as far as that is known."""
        self.stop()
        return end_words(self._process.exitcode)

    def stop(self) -> None:
        """Ends the process after the piece of work that it is doing; remaining answers are lost."""
        if self._sends:
            self._process.kill()  # It waits for the rest of a message that will not come.
        with contextlib.suppress(EOFError, OSError):
            if not self._sends:
                self._connection.send(None)
            while True:
                self._connection.recv()
        self._process.join()
        self._connection.close()

    def kill(self) -> None:
        """Ends the process at once; `stop` does the rest."""
        self._process.kill()

    def fileno(self) -> int:
        """Returns what becomes readable when there are answers, or when the process ends."""
        return self._connection.fileno()


def _started(connection: Connection, interrupted: Connection) -> ForkServerProcess:
    """Starts a process of a worker, with a new fork server if the one that runs dies meanwhile.

    `EngineError` if the new one dies too, several times.
    """
    problem: Exception | None = None
    for times in range(_STARTS):
        process = _CONTEXT.Process(target=_serve, args=(connection, interrupted))
        try:
            process.start()
        except (EOFError, OSError) as error:  # The fork server has died or is about to, or the machine lacks something.
            problem = error
            time.sleep(_PAUSE * times)  # Until the system has taken note of the death, it counts as running.
            prepare()
            continue
        return process
    kept = "What was committed is kept"
    if not isinstance(problem, _OF_THE_SERVER):
        raise EngineError(f"no worker can be started: {problem}. {kept}")
    raise EngineError(
        f"no worker can be started: the process that workers are forked from ended {_STARTS} times meanwhile "
        f"({type(problem).__name__}: {problem}). {kept}. {OUT_OF_MEMORY}"
    )


def end_words(code: int | None) -> str:
    """Returns in words how a process ended, by its exit code, which is negative for a signal.

    That of a worker is lost if the fork server, which is its parent, has died.
    """
    if code is None or code == _UNKNOWN_END:
        return f"was killed, or the process that it was forked from was. {OUT_OF_MEMORY}"
    if code >= 0:
        return f"ended by itself with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown here"
    return f"was killed by signal {-code} ({name}){_WHY.get(-code, '')}"


def ready(workers: Sequence[Worker], timeout: float | None = None) -> list[Worker]:
    """Waits until any of these workers has answers or has died, at most for some seconds; returns those."""
    return wait_for(workers, timeout)  # type: ignore[arg-type, return-value]  # anything with a fileno


def prepare(modules: Sequence[str] = ()) -> None:
    """Starts the server that workers are forked from, unless it runs; it loads modules meanwhile. Returns at once."""
    # Before the fork server starts: libraries read these when they are loaded.
    for name, value in WORKER_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    _CONTEXT.set_forkserver_preload([*PRELOADED, *modules])
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # It ends the holding back of signals, so it comes first.
    with _interrupts_held_back():
        forkserver.ensure_running()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Starts processes with Ctrl-C held back: a process that is loading modules would show a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def new_pipe() -> tuple[Connection, Connection]:
    """Returns the two ends of a pipe, to read from and to write to.

    A worker may begin after its parent has gone, if Ctrl-C came while the fork server loaded modules. It still gets its
    end of a pipe. An event, which has a name, would be gone by then, and cause a traceback.
    """
    return _CONTEXT.Pipe(duplex=False)


def _serve(connection: Connection, interrupted: Connection) -> None:
    """Does the work that comes through the pipe until the driver closes it, or is gone.

    Ctrl-C in a terminal reaches every worker too. The worker ends without a traceback and tells its parent, because
    Dagster may hold back the signal that the parent got itself.
    """

    def leave(*_: object) -> None:
        with contextlib.suppress(OSError):
            interrupted.send_bytes(b"\n")
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    calm_collector()
    work: SimpleQueue[tuple[Callable[[Any], Any], Any, float] | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, work), daemon=True).start()
    done: list[tuple[Any, Exception | None, float]] = []
    told = time.monotonic()
    while (piece := work.get()) is not None:
        function, item, expected = piece
        if done and expected >= _TELL_EVERY:  # Others may wait for these results.
            connection.send(done)
            done, told = [], time.monotonic()
        started = time.monotonic()
        found = attempt(function, item)
        now = time.monotonic()
        done.append((*found, now - started))
        if work.empty() or now - told >= _TELL_EVERY:
            connection.send(done)
            done, told = [], now


def _receive(connection: Connection, work: "SimpleQueue[Any]") -> None:
    """Reads what the driver sends at once, so that the driver never waits for a worker that itself waits to answer.

    Ends the process when the driver is gone, so that a killed run leaves no worker behind.
    """
    try:
        for function, items, seconds in _messages(connection):
            for item, expected in zip(items, seconds, strict=True):
                work.put((function, item, expected))
    except (EOFError, OSError):
        os._exit(1)
    except BaseException:  # such as a module of the user's own that this process cannot load
        traceback.print_exc()
        os._exit(1)
    with contextlib.suppress(Empty):
        while True:  # Work that has not begun is no longer wanted.
            work.get_nowait()
    work.put(None)


def _messages(connection: Connection) -> Iterator[tuple[Callable[[Any], Any], Sequence[Any], Sequence[float]]]:
    while (message := _loaded(connection.recv_bytes())) is not None:
        yield message


def _loaded(sent: bytes) -> Any:
    try:
        return ForkingPickler.loads(sent)
    except (EOFError, OSError) as error:  # Such as of the disk with a module of the user's own, and not of the pipe.
        raise RuntimeError(f"what the driver sent cannot be loaded: {type(error).__name__}: {error}") from error
