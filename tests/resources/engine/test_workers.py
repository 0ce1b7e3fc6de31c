"""One worker: when it answers, and that it ends in the middle of a message."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.engine.local import LocalEngine
from resources.engine.workers import Worker, new_pipe
from tests.resources.engine.test_local import _done, jobs


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(new_pipe()[1])
    yield made
    made.stop()


def _waits_for(path: str) -> str:
    """Returns at once, or when a file is there."""
    while path and not Path(path).exists():
        time.sleep(0.005)
    return path


def test_what_is_done_is_told_before_a_long_piece_begins(worker: Worker, tmp_path: Path) -> None:
    gate = str(tmp_path / "gate")
    worker.give(_waits_for, ["", "", gate], [0.0, 0.0, 60.0])
    told: list[object] = []
    while len(told) < 2:  # It would wait for ever if the two were told together with the third.
        told += [answer.result for answer in worker.answers()]
    assert told == ["", ""]
    Path(gate).touch()
    assert [answer.result for answer in worker.answers()] == [gate]
    assert worker.silent == 0.0


def test_a_worker_that_got_half_a_message_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(new_pipe()[1])

    def interrupted(message: object) -> None:
        del message
        os.write(worker.fileno(), b"\x00\x00\xff\xff half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(worker._connection, "send", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        worker.give(_waits_for, [""], [0.0])
    monkeypatch.undo()
    worker.stop()
    assert not worker._process.is_alive()


def _dies(item: int) -> int:
    """Dies in any worker."""
    if os.getpid() != item:
        os._exit(9)
    return item


def test_a_function_that_kills_idle_workers_leaves_the_busy_ones_their_jobs(tmp_path: Path) -> None:
    engine = LocalEngine(2, _done)
    list(engine.run(jobs(tmp_path, 4)))
    busy, idle = engine._pool[0], list(engine._pool[1:])
    busy.give(_waits_for, [str(tmp_path / "gate")], [60.0])
    assert list(engine.spread(_dies, [os.getpid()])) == [os.getpid()]
    assert engine._pool == [busy]
    assert all(not one._process.is_alive() for one in idle)
    (tmp_path / "gate").touch()
    assert [answer.result for answer in busy.answers()] == [str(tmp_path / "gate")]
    engine.close()
