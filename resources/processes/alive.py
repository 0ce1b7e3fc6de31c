"""Whether a process that wrote down its number still runs."""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Birth(NamedTuple):
    """Where and when a process began; unique to the process.

    place: the start of the machine and the namespace of process numbers; empty where the system does not tell. Numbers
        identify a process only within one place: containers may share the name of their host.
    ticks: of the machine's clock since its start, which setting the time does not change.
    """

    place: str = ""
    ticks: int = 0

    @property
    def boot(self) -> str:
        """The start of the machine; empty where the system does not tell."""
        return self.place.rpartition("-")[0]


@cache
def birth(pid: int) -> Birth:
    """Returns the birth of this process, whose number is `pid`."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
        return Birth(f"{boot}-{space}", start_ticks(pid) or 0)
    return Birth()


def has_ended(pid: int, born: Birth) -> bool:
    """Returns whether a process is known to have ended; False too if nobody here can know."""
    if not born.place or born.place != birth(os.getpid()).place:
        return False
    ticks = start_ticks(pid)
    return ticks is None or (0 not in (ticks, born.ticks) and ticks != born.ticks)


def start_ticks(pid: int) -> int | None:
    """Returns when a process began, in ticks since the machine started; 0 if that is hidden from us.

    None if there is no such process, or if it ended and its parent did not wait for it.
    """
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if state in "ZXx" else int(fields[18])
    except ProcessLookupError:
        return None
    except FileNotFoundError:
        return 0 if _is_hidden(pid) else None
    except PermissionError:
        return 0


def _is_hidden(pid: int) -> bool:
    with suppress(ProcessLookupError):
        try:
            os.kill(pid, 0)
        except PermissionError:
            return True
    return False


def start_time(pid: int) -> float | None:
    """Returns when the process of this number began, in seconds since 1970; 0 if that is hidden from us.

    None if there is no such process, or if it ended and its parent did not wait for it: a container may keep such
    zombies for ever.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD) else process.create_time()
    except psutil.NoSuchProcess:  # ZombieProcess too.
        return None
    except psutil.AccessDenied:
        return 0.0
