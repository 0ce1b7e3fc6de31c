"""A copy of a corpus, in a process that kills itself at the n-th of a moment."""

import os
import signal
from itertools import count
from pathlib import Path
from typing import Any

from corpus_assets.copying import copy_corpus
from resources.ledger.ledger import Ledger
from resources.storage.local.unpublished import LocalUnpublished
from tests.build.small import opened
from tests.copying.test_copy import other

MOMENTS: dict[str, tuple[Any, str]] = {
    "first byte": (LocalUnpublished, "create"),
    "before publishing": (LocalUnpublished, "publish"),
    "before the record": (Ledger, "replace"),
    "before the snapshots": (Ledger, "adopt"),
}


def arm(moment: str, number: int) -> None:
    """Let the process die before the n-th call of what the moment stands for."""
    place, name = MOMENTS[moment]
    called, times = getattr(place, name), count(1)

    def dying(*arguments: Any) -> Any:
        if next(times) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return called(*arguments)

    setattr(place, name, dying)


def copy_and_die(folder: Path, moment: str, number: int) -> None:
    arm(moment, number)
    copy_corpus(opened(folder), other(folder))
