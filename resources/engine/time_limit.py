"""A limit on the time of one job, for engines whose workers are processes."""

import faulthandler
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

from resources.errors import JobTimeoutError
from resources.stage.jobs.job import Job, Outcome

GRACE = 10.0
"""Seconds after which a worker ends itself if code in another language keeps it from noticing the limit."""

Work = Callable[[Job], Outcome]


def within(seconds: float, work: Work, grace: float = GRACE) -> Work:
    """Returns work that fails with a `JobTimeoutError` in words if it takes longer; for the main thread of a worker.

    Python code is interrupted and the worker lives on. Code that does not return to Python cannot be interrupted: then
    the worker process exits, `grace` seconds later.
    """
    return partial(_limited, seconds, grace, work)


def too_long(seconds: float) -> str:
    """Returns what is wrong with a job that takes too long."""
    return f"it takes longer than engine.job_timeout allows ({seconds:g} s)"


def _limited(seconds: float, grace: float, work: Work, job: Job) -> Outcome:
    def interrupt(*_: object) -> NoReturn:
        raise JobTimeoutError(too_long(seconds))

    before = signal.signal(signal.SIGALRM, interrupt)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(seconds + grace, exit=True, file=nowhere)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            return work(job)
        except JobTimeoutError as error:  # between the end of the work and the next line
            return Outcome(job.name, job.stage.name, job.partition, error=str(error))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            faulthandler.cancel_dump_traceback_later()
