"""Whether a process that left its number somewhere still runs."""

import psutil


def start_time(pid: int) -> float | None:
    """Returns when the process of this number began, in seconds since 1970; 0 if that is hidden from us.

    None if there is none, or if it ended and nobody waited for it: a container may keep such zombies for ever.
    """
    try:
        process = psutil.Process(pid)
        return None if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD) else process.create_time()
    except psutil.NoSuchProcess:  # ZombieProcess too.
        return None
    except psutil.AccessDenied:
        return 0.0
