"""What a process takes together with all processes that it starts: memory, and CPU time. Linux only."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PAUSE = 0.2
"""Seconds between two looks at the processes."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Taken:
    """Seconds, and the largest sum over all processes, at one time, of the memory of each (PSS) in bytes.

    PSS counts a page that processes share once. output: standard output.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def run(command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None) -> Taken:
    """Runs a command; raises `subprocess.CalledProcessError` if it fails."""
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, text=True
    ) as process:
        over, seen = threading.Event(), _Seen()
        watch = threading.Thread(target=_watch, args=(process.pid, over, seen))
        watch.start()
        try:
            output, _ = process.communicate()
        finally:
            over.set()
            watch.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    cpu = sum(seen.seconds.values())
    return Taken(round(time.monotonic() - began, 1), round(cpu, 1), seen.peak, output)


class _Seen:
    """The largest memory so far, and the CPU seconds of each process when it was last looked at."""

    def __init__(self) -> None:
        self.peak = 0
        self.seconds: dict[tuple[int, str], float] = {}


def _watch(first: int, over: threading.Event, seen: _Seen) -> None:
    while not over.wait(PAUSE):
        memory = 0
        for process in family(first):
            with suppress(OSError, IndexError):
                fields = _fields(process)
                seen.seconds[process, fields[19]] = (int(fields[11]) + int(fields[12])) / _TICKS
                memory += pss(process)
        seen.peak = max(seen.peak, memory)


def family(first: int) -> list[int]:
    """A process and all that it started, and these, as far as they run."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                children.setdefault(int(_fields(int(entry.name))[1]), []).append(int(entry.name))
    found = [first]
    for process in found:
        found += children.get(process, ())
    return found


def pss(process: int) -> int:
    """The memory of a process in bytes, with its part of the pages that it shares with others."""
    for line in (PROC / str(process) / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) << 10
    return 0


def _fields(process: int) -> list[str]:
    """The fields of a process behind its name, which may hold any character: its state is the first."""
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
