"""Processes of a build that somebody kills: the build goes on where it can, and else ends with the reason."""

from pathlib import Path

import pytest

from resources.engine import workers
from tests.build.small import write_small
from tests.faults.command import MAIN, run

KILLED_SERVER = f"""
import os, signal
from multiprocessing import forkserver

running = forkserver._forkserver.ensure_running
left = [{{times}}]


def dies():
    running()
    if left[0]:
        left[0] -= 1
        os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)


forkserver._forkserver.ensure_running = dies  # before a process is asked for
{MAIN}
"""


@pytest.mark.slow
def test_a_fork_server_that_is_killed_is_started_again(tmp_path: Path) -> None:
    write_small(tmp_path, {"engine.workers": 2})
    code, out, err = run(tmp_path, "build", "--quiet", code=KILLED_SERVER.format(times=2))
    assert (code, err) == (0, ""), out + err


@pytest.mark.slow
def test_one_that_is_killed_for_ever_ends_the_build_with_the_reason(tmp_path: Path) -> None:
    write_small(tmp_path, {"engine.workers": 2})
    code, out, err = run(tmp_path, "build", "--quiet", code=KILLED_SERVER.format(times=99))
    assert code == 1
    assert "no worker can be started" in out + err and "engine.memory" in out + err
    assert "Aborted" not in out + err


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-9, "signal 9 (SIGKILL). If it was the system"),
        (-11, "signal 11 (SIGSEGV)"),
        (3, "exit code 3"),
        (255, "was killed, or"),
    ],
)
def test_how_a_process_ended(code: int, said: str) -> None:
    assert said in workers.end_words(code)


def test_no_end_of_file_is_taken_for_an_interrupt(tmp_path: Path) -> None:
    write_small(tmp_path)
    broken = f"import corpus_assets.cli.plan as plan\ndef run(*a, **b): raise EOFError\nplan.run = run\n{MAIN}"
    code, out, err = run(tmp_path, "plan", code=broken)
    assert code == 1
    assert "ended too early" in err and "Aborted" not in out + err
