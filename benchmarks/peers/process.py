"""Runs a program and measures its cost, with all its children."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MB = 1_000_000


class AbsentError(Exception):
    """A peer could not be installed or run; the message is the last line of the reason."""


@dataclass(frozen=True)
class Cost:
    """Seconds, and the largest resident set of any one process in MB (10^6 bytes)."""

    cpu_seconds: float
    wall_seconds: float
    peak_rss_mb: float


def run(
    command: Sequence[str], *, folder: Path, log: Path, limit: float, extra: Mapping[str, str] | None = None
) -> Cost:
    """Run a command in `folder`, its output into `log`; `extra` is added to its environment.

    Linux counts as a program's peak what its parent held when it started, so the caller should be small. Raises
    AbsentError when the command fails, or takes more than `limit` seconds and is killed with its children.
    """
    late = threading.Event()
    started = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **(extra or {})},
        )
    timer = threading.Timer(limit, _stop, (process.pid, late))
    timer.start()
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        _kill(process.pid)
        raise
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if late.is_set():
        raise AbsentError(f"stopped after {limit:,.0f} seconds")
    if process.returncode:
        reason = last_line(log.read_text(encoding="utf-8", errors="replace"))
        raise AbsentError(reason or f"exit code {process.returncode}")
    peak = used.ru_maxrss * 1024 / MB
    return Cost(round(used.ru_utime + used.ru_stime, 2), round(time.monotonic() - started, 2), round(peak, 1))


def last_line(output: str) -> str:
    """The last line that says something; pip's hints and warnings about itself say nothing."""
    lines = [line.strip() for line in output.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("WARNING:", "[notice]"))]
    return telling[-1] if telling else ""


def _stop(group: int, late: threading.Event) -> None:
    late.set()
    _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
