"""The system kills workers that take too much memory, by a limit of a control group: each is tried again, alone."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from resources.stage.declaration import Partitioning, Stage
from resources.stage.graph import Graph
from resources.stage.task import Task
from tests.build.small import Work, drive, opened, write_config

LIMIT = 160 << 20
MOUNTS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
"""Where control groups of versions 1 and 2 are, and the file of the limit."""

PATIENCE = 20.0
HUNGRY = "books--three"


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with a limit on memory."""
    for mount, limit in MOUNTS:
        made = Path(mount, f"corpus-test-{os.getpid()}")
        try:
            made.mkdir()
        except OSError:
            continue
        try:
            (made / limit).write_text(str(LIMIT))
        except OSError:
            made.rmdir()
            continue
        yield made
        made.rmdir()
        return
    pytest.skip("this system lets nobody make a control group with a limit on memory")


def eats(task: Task, group: Path, notes: Path, size: int) -> None:
    """A stage function that takes so much memory in the group, for one partition in vain."""
    (notes / f"{task.key}.{os.getpid()}").touch()
    (group / "cgroup.procs").write_text(str(os.getpid()))
    held = bytearray(size)
    held[::4096] = b"1" * len(held[::4096])
    task.save_bytes(f"hungry/{task.key}.txt", str(task.key).encode())
    del held


def eats_alone(task: Task, group: Path, notes: Path, size: int) -> None:
    """The same for two partitions at once, which have room only one after the other."""
    (notes / f"{task.key}.{os.getpid()}").touch()
    (group / "cgroup.procs").write_text(str(os.getpid()))
    until = time.monotonic() + PATIENCE
    while len({note.stem for note in notes.iterdir()}) < 2 and time.monotonic() < until:
        pass
    held = bytearray(size)
    held[::4096] = b"1" * len(held[::4096])
    while len(list(notes.iterdir())) < 3 and time.monotonic() < until and not _was_killed(group):
        pass
    task.save_bytes(f"hungry/{task.key}.txt", str(task.key).encode())
    del held


def _was_killed(group: Path) -> bool:
    """Whether the system has killed a process of the group."""
    files = (group / name for name in ("memory.oom_control", "memory.events"))
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    return any(line.startswith("oom_kill ") and not line.endswith(" 0") for line in lines)


def hungry(compute: Callable[[Task], None]) -> Stage:
    return Stage(
        name="hungry",
        group="test",
        description="Takes memory.",
        partitioning=Partitioning.SHARD,
        compute=compute,
        code_version="1",
        io="records",
    )


def test_a_worker_killed_for_memory_is_tried_again_alone_and_then_fails_by_name(
    work: Work, group: Path, tmp_path: Path
) -> None:
    (notes := tmp_path / "notes").mkdir()
    write_config(work.folder, {"engine.workers": 2})
    corpus = opened(work.folder)
    stage = hungry(partial(_by_key, group=group, notes=notes))
    corpus.graph = Graph([*corpus.graph, stage])
    built = drive(corpus, [stage])
    (failed,) = built.failed
    assert failed.startswith(f"hungry/{HUNGRY}: ")
    assert "the worker process was killed by signal 9 (SIGKILL)" in failed and "engine.memory" in failed
    assert built.of("hungry") == set(corpus.listing().keys()) - {HUNGRY}
    assert len(list(notes.glob(f"{HUNGRY}.*"))) == 2
    assert _was_killed(group)


def _by_key(task: Task, group: Path, notes: Path) -> None:
    eats(task, group, notes, 2 * LIMIT if task.key == HUNGRY else 1 << 20)


def test_what_has_room_alone_is_built_after_its_worker_was_killed(work: Work, group: Path, tmp_path: Path) -> None:
    (notes := tmp_path / "notes").mkdir()
    write_config(work.folder, {"engine.workers": 2})
    corpus = opened(work.folder)
    stage = hungry(partial(eats_alone, group=group, notes=notes, size=LIMIT * 5 // 8))
    corpus.graph = Graph([*corpus.graph, stage])
    built = drive(corpus, [stage])
    assert _was_killed(group)
    assert built.failed == []
    assert built.of("hungry") == set(corpus.listing().keys())
