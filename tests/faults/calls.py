"""The calls of the C library of a process under `io_fault.c`: they are counted, written down, and one of them fails."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.preloaded import compiled

LIBRARY = "LD_PRELOAD"
_COUNTER_BYTES = 8


@dataclass(frozen=True)
class Call:
    """A call of the C library. kind: such as `read`. path: of the file or folder."""

    kind: str
    path: str

    @staticmethod
    def written(content: str) -> "list[Call]":
        """The calls in a file that the library wrote."""
        return [Call(*line.split(" ", 1)) for line in content.splitlines() if " " in line]


class Calls:
    """The calls of this process and of those it forks. notes: a folder for what the library writes."""

    def __init__(self, notes: Path) -> None:
        notes.mkdir(parents=True, exist_ok=True)
        self._log, self._trace, self._count = notes / "log", notes / "trace", notes / "count"

    def arm(self, under: Path, *, at: int, error: int, trace: bool = False) -> None:
        """From now on calls below a folder count, and the one with a number fails; none if it is larger than all."""
        self._count.write_bytes(bytes(_COUNTER_BYTES))
        for file in (self._log, self._trace):
            file.write_bytes(b"")
        values: Mapping[str, object] = {
            "FAULT_UNDER": f"{under}/",
            "FAULT_AT": at,
            "FAULT_ERRNO": error,
            "FAULT_COUNT": self._count,
            "FAULT_LOG": self._log,
        } | ({"FAULT_TRACE": self._trace} if trace else {})
        os.environ.update({name: str(value) for name, value in values.items()})
        os.environ["FAULT_CALL"] = "any"

    def disarm(self) -> None:
        """From now on no call counts."""
        for name in ("FAULT_CALL", "FAULT_TRACE"):
            os.environ.pop(name, None)

    def failed(self) -> Call | None:
        """The call that failed, if one did."""
        found = Call.written(self._log.read_text(errors="replace"))
        return found[0] if found else None

    def traced(self) -> list[Call]:
        """All calls, in order."""
        return Call.written(self._trace.read_text(errors="replace"))


def under_library(folder: Path, module: str, arguments: Sequence[str]) -> None:
    """Replaces this process by one that runs a module under the library, made in a folder; returns if it is one."""
    if LIBRARY not in os.environ:
        os.environ[LIBRARY] = str(compiled("io_fault", folder))
        os.execv(sys.executable, [sys.executable, "-m", module, *arguments])
