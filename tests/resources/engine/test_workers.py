"""One worker: when it answers, and that it ends in the middle of a message."""

import errno
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

import pytest

from resources.engine import workers
from resources.engine.local import LocalEngine
from resources.engine.workers import Worker, new_pipe
from resources.errors import EngineError
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


class _Unloadable:
    """Something that a worker cannot load, since a disk fails."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _fail, ()


def _fail() -> None:
    raise OSError(errno.EIO, "Input/output error", "own_stages.py")


def test_a_worker_that_cannot_load_its_work_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", leave)
    ours, theirs = Pipe()
    ours.send(_Unloadable())
    with pytest.raises(SystemExit, match="1"):
        workers._receive(theirs, SimpleQueue())
    assert "own_stages.py" in capsys.readouterr().err
    ours.close()
    with pytest.raises(SystemExit, match="1"):
        workers._receive(theirs, SimpleQueue())
    assert capsys.readouterr().err == ""


def test_the_signal_of_a_mapped_file_that_cannot_be_read_is_explained() -> None:
    words = workers.end_words(-signal.SIGBUS)
    assert "(SIGBUS). A file that is mapped into memory could not be read: its disk failed" in words


def test_a_machine_that_starts_no_worker_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(workers, "_PAUSE", 0.0)
    monkeypatch.setattr(ForkServerProcess, "start", fails)
    with pytest.raises(
        EngineError, match=r"no worker can be started: \[Errno 24\] Too many open files\. What was"
    ) as found:
        Worker(new_pipe()[1])
    assert "forked" not in str(found.value)


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
