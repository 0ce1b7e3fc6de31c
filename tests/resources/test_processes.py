"""A process is known to have ended only where its number means the same process."""

import os
import subprocess
import sys

from resources.processes.alive import Birth, birth, has_ended, start_ticks

PROGRAM = "import os; from resources.processes.alive import birth; print(os.getpid(), *birth(os.getpid()))"


def test_this_process_runs_and_one_that_has_ended_does_not() -> None:
    assert not has_ended(os.getpid(), birth(os.getpid()))
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    pid, place, ticks = done.stdout.split()
    assert place == birth(os.getpid()).place
    assert has_ended(int(pid), Birth(place, int(ticks)))


def test_a_later_process_of_the_same_number_is_another() -> None:
    mine = birth(os.getpid())
    assert mine.ticks == start_ticks(os.getpid()) != 0
    assert has_ended(os.getpid(), Birth(mine.place, mine.ticks - 1))
    assert not has_ended(os.getpid(), Birth(mine.place))


def test_a_process_of_another_namespace_or_start_of_the_machine_is_never_known_to_have_ended() -> None:
    for place in ("", "another-start-4026531836", birth(os.getpid()).place + "0"):
        assert not has_ended(2**22 + 1, Birth(place, 1))
    assert has_ended(2**22 + 1, Birth(birth(os.getpid()).place, 1))
