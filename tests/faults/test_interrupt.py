"""Ctrl-C that comes while Dagster holds it back, and forgets it: the build ends all the same, and keeps its work."""

import signal
import socket
import threading
from pathlib import Path

import pytest

from corpus_assets.orchestration.interrupts import interrupts_kept
from tests.build.small import opened, write_small
from tests.faults.command import MAIN, run

INTERRUPTED = 130
BETWEEN_STEPS = f"""
import os, signal
from corpus_assets.orchestration.runner import Runner
from dagster._utils.interrupts import capture_interrupts

run = Runner.run


def interrupted(*arguments):
    run(*arguments)
    with capture_interrupts():
        os.kill(os.getpid(), signal.SIGINT)


Runner.run = interrupted
{MAIN}
"""


def test_ctrl_c_between_steps_ends_the_build(tmp_path: Path) -> None:
    folder = write_small(tmp_path, {"engine.workers": 0})
    code, _, err = run(folder, "build", "--json", code=BETWEEN_STEPS)
    assert code == INTERRUPTED, err
    assert "interrupted; finished partitions are kept" in err
    assert "Traceback" not in err
    assert opened(folder).ledger.assets() == {"inventory"}


def test_an_interrupt_is_kept_whoever_handles_it() -> None:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with interrupts_kept() as require_none:
            require_none()
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                require_none()
            require_none()
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_place_that_signals_are_written_to_is_given_back() -> None:
    with socket.socket() as other:
        other.setblocking(False)
        signal.set_wakeup_fd(other.fileno())
        with interrupts_kept():
            pass
        assert signal.set_wakeup_fd(-1) == other.fileno()


def test_in_another_thread_nothing_is_kept() -> None:
    found: list[object] = []

    def ask() -> None:
        with interrupts_kept() as require_none:
            found.append(require_none())

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [None]
