"""Keeps Ctrl-C from being lost where Python drops exceptions."""

import _thread
import sys
from typing import Any


def heed_all_interrupts() -> None:
    """Raises an interrupt again that came in a destructor or a library's callback, which drop exceptions."""
    others = sys.unraisablehook

    def heed(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            _thread.interrupt_main()
        else:
            others(dropped)

    sys.unraisablehook = heed
