"""Whether the times of a file would tell that it is written again."""

import os
import time

_SECOND = 10**9
_COARSEST = 2 * _SECOND  # FAT


def settled(info: os.stat_result) -> bool:
    """Returns whether a file that is written from now on gets another change time.

    Some file systems keep whole seconds only: there, a file that was just written may be written again without a trace.
    """
    return bool(info.st_ctime_ns % _SECOND) or info.st_ctime_ns < time.time_ns() - _COARSEST
