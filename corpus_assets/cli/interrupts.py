"""Ctrl-C that is not lost where Python drops exceptions."""

import _thread
import sys
from typing import Any


def heed_all_interrupts() -> None:
    """Has an interrupt raised again that met a destructor or a callback of a library, from which nothing is raised."""
    others = sys.unraisablehook

    def heed(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            _thread.interrupt_main()
        else:
            others(dropped)

    sys.unraisablehook = heed
