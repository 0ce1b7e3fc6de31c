"""Ctrl-C that comes between two stages: the build ends, and keeps its work."""

from pathlib import Path

import pytest

from tests.build.small import opened, write_small
from tests.faults.command import MAIN, run

INTERRUPTED = 130
BETWEEN_STAGES = f"""
import signal
from corpus_assets.orchestration.building.runner import Runner

settled = Runner.settled
# A shell that starts the tests in the background ignores Ctrl-C, and so would what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(*arguments):
    settled(*arguments)
    signal.raise_signal(signal.SIGINT)


Runner.settled = interrupted
{MAIN}
"""

IN_A_DESTRUCTOR = BETWEEN_STAGES.replace(
    "def interrupted(*arguments):",
    """
class Destroyed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def interrupted(*arguments):""",
).replace("    signal.raise_signal(signal.SIGINT)\n\n\nRunner", "    Destroyed()\n\n\nRunner")


@pytest.mark.parametrize("command", [BETWEEN_STAGES, IN_A_DESTRUCTOR], ids=["between stages", "in a destructor"])
def test_ctrl_c_between_stages_ends_the_build(tmp_path: Path, command: str) -> None:
    folder = write_small(tmp_path, {"engine.workers": 0})
    code, _, err = run(folder, "build", "--json", code=command)
    assert code == INTERRUPTED, err
    assert "interrupted; finished partitions are kept, and the same command continues from there" in err
    assert "Traceback" not in err
    assert "inventory" in opened(folder).ledger.assets()
    assert "mixed_pass1" not in opened(folder).ledger.assets()
