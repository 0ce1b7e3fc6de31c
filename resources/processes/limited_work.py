"""The inside of a helper process that works for `limited_process.py`: it sets its own limits and answers requests."""

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

OUT_OF_MEMORY = 70
"""Exit code of a process whose answer needed more memory than it may have."""

Answer = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Limits:
    """Limits of one answer: CPU seconds, and bytes of memory beside those the process began with.

    per_byte: further bytes of memory for each byte of the request.
    """

    cpu_seconds: float = 5.0
    memory: int = 512 << 20
    per_byte: int = 16

    def arguments(self) -> list[str]:
        """Returns the limits as arguments of a command."""
        return [str(self.cpu_seconds), str(self.memory), str(self.per_byte)]

    @classmethod
    def of(cls, arguments: list[str]) -> "Limits":
        """Returns the limits of arguments."""
        cpu_seconds, memory, per_byte = arguments
        return cls(float(cpu_seconds), int(memory), int(per_byte))


def serve(begin: Callable[[bytes], tuple[bytes, Answer]]) -> None:
    """Answers the lines of standard input until it ends. begin: answers the first, and says what answers the others."""
    limits = Limits.of(sys.argv[1:])
    requests, answers = _own_pipes()
    process = os.getpid()
    at_first = _address_space()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer: Answer | None = None
    for line in requests:
        _set_memory(at_first + limits.memory + limits.per_byte * len(line) if at_first else resource.RLIM_INFINITY)
        signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
        try:
            if answer is None:
                said, answer = begin(line)
            else:
                said = answer(line)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        if os.getpid() != process:
            os._exit(0)  # A copy that the answer made of this process; it has nothing to say.
        signal.setitimer(signal.ITIMER_PROF, 0)
        # A request may be longer than the memory that was left for the one before it.
        _set_memory(resource.RLIM_INFINITY)
        answers.write(said + b"\n")
        answers.flush()


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Returns where requests come from, and where answers go.

    Code that answers has neither: its standard input is empty, and what it prints goes to standard error, also if it or
    a process that it starts writes to file descriptor 1. Processes that outlive this one do not hold the pipe open.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    os.register_at_fork(after_in_child=answers.close)
    return requests, answers


def _set_memory(most: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        most = hard if most == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):  # macOS takes none
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _address_space() -> int:
    """Returns the bytes of address space that the process has; 0 where only Linux would say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    return 0
