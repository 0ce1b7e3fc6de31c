"""Copies a corpus and kills itself at the n-th of a moment: `python -m tests.copying.kill_copy FOLDER MOMENT N`."""

import os
import signal
import sys
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


if __name__ == "__main__":
    arm(sys.argv[2], int(sys.argv[3]))
    folder = Path(sys.argv[1])
    copy_corpus(opened(folder), other(folder))
