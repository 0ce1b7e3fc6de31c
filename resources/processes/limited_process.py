"""A helper process that answers untrusted requests within limits that always hold.

The limits are on CPU time and on memory, and the kernel enforces them: one instruction of Python may compute for hours,
and nothing inside the process could stop it. CPU time is limited and not elapsed time, so that a busy machine changes
no answer. `limited_work.py` is the code inside the process.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock
from weakref import finalize

from resources.errors import CorpusError
from resources.processes.limited_work import OUT_OF_MEMORY, Limits

_NEEDED = ("PATH", "HOME", "LANG", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
_NEEDED_PREFIXES = ("PYTHON", "LC_")
_CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)


class OverLimitError(Exception):
    """An answer would need more than allowed; the message says of what."""


class TooSlowError(OverLimitError):
    """An answer took too much CPU time, which no new process changes."""


class LimitedProcess:
    """Asks `python -m MODULE`, which calls `limited_work.serve`, one request after another.

    The process starts before the first request, gets `start`, and starts again after it died. It ends with its parent,
    however that ends. Requests and answers hold no line break.
    """

    def __init__(self, module: str, start: bytes, limits: Limits) -> None:
        # -P: a file in the working folder of the build must not replace a library.
        self._command = [sys.executable, "-P", "-m", module, *limits.arguments()]
        self._start = start
        self._limits = limits
        self._process: _Process | None = None
        self._asking = Lock()  # An engine may run jobs as threads of one process.

    def begin(self) -> bytes:
        """Returns the answer to `start`; raises as `ask`."""
        with self._asking:
            return self._running().first_answer

    def ask(self, request: bytes) -> bytes:
        """Returns the answer to a request.

        OverLimitError if it would need too much; CorpusError if something else ended the process, or anything before
        it saw the request. If an old process runs out of memory, the request goes once more to a new one, so that
        answers do not depend on earlier requests.
        """
        with self._asking:
            is_new = self._process is None or not self._process.asked
            try:
                return self._answer(request)
            except OverLimitError as fault:
                if is_new or isinstance(fault, TooSlowError):
                    raise
                return self._answer(request)

    def close(self) -> None:
        """Ends the process."""
        with self._asking:
            if self._process is not None:
                self._process.end()
                self._process = None

    def _running(self) -> "_Process":
        if self._process is None:
            process = _Process(self._command)
            process.first_answer = self._exchange(process, self._start)
            self._process = process
        return self._process

    def _answer(self, request: bytes) -> bytes:
        try:
            process = self._running()
        except OverLimitError as fault:  # It has not seen the request yet.
            raise CorpusError(
                f"a helper process cannot start: {fault}; what it is to be asked is not the reason"
            ) from None
        answer = self._exchange(process, request)
        process.asked = True
        return answer

    def _exchange(self, process: "_Process", request: bytes) -> bytes:
        """Returns an answer. The process ends if it gives none, or if waiting for it is interrupted."""
        answer = None
        try:
            answer = process.exchange(request)
        finally:
            if answer is None:
                self._process, ended_by = None, process.end()
        if answer is None:
            raise self._fault(ended_by)
        return answer

    def _fault(self, ended_by: int) -> Exception:
        if ended_by == -signal.SIGPROF:
            return TooSlowError(f"it takes more than {self._limits.cpu_seconds:g} s of CPU time")
        if ended_by == OUT_OF_MEMORY:
            return OverLimitError(f"it takes more than {self._limits.memory >> 20} MiB of memory")
        if ended_by in _CRASHES:
            return OverLimitError(f"it breaks the process ({signal.Signals(-ended_by).name})")
        how = f"signal {-ended_by}" if ended_by < 0 else f"exit code {ended_by}"
        return CorpusError(f"a helper process ended by {how}; what it was asked is not the reason")


def _environment() -> dict[str, str]:
    """Returns the variables that Python needs to start, and no others: untrusted code must see no keys."""
    needed = {name: value for name, value in os.environ.items() if name in _NEEDED or name.startswith(_NEEDED_PREFIXES)}
    return {**needed, "PYTHONHASHSEED": "0"}


class _Process:
    """One process and its pipes. asked: whether it answered more than its first request."""

    first_answer = b""
    asked = False

    def __init__(self, command: list[str]) -> None:
        # In a session of its own Ctrl-C does not reach it: its parent decides.
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=_environment(),
        )
        self._stop = finalize(self, _stop, self._popen)

    def exchange(self, request: bytes) -> bytes | None:
        """Returns the answer to a request; None if the process ended before it."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.write(request + b"\n")
            self._popen.stdin.flush()
        answer = self._popen.stdout.readline()
        return answer[:-1] if answer.endswith(b"\n") else None

    def end(self) -> int:
        """Ends the process if it did not end before, and returns how it ended."""
        self._stop()
        return self._popen.returncode


def _stop(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()
    try:
        process.wait(timeout=1)  # A killed process closes its pipes before its end can be seen.
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
