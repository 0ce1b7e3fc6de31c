"""One job of a machine at a time works on long documents."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from resources.processes.long_documents import BYTES_PER_BYTE, job_begins, job_ends, wait_for_turn

SHARE = 8_000_000


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    job_begins(SHARE)
    yield
    job_ends()


def is_free(folder: Path) -> bool:
    for path in folder.glob("*.turn"):
        lock = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
    return True


def test_a_job_keeps_its_turn_from_a_long_document_to_its_end(tmp_path: Path) -> None:
    wait_for_turn(SHARE // BYTES_PER_BYTE)
    assert is_free(tmp_path), "a document that fits the share needs no turn"
    wait_for_turn(SHARE // BYTES_PER_BYTE + 1)
    wait_for_turn(SHARE)
    assert not is_free(tmp_path)
    job_ends()
    assert is_free(tmp_path)


def test_another_job_waits_until_then(tmp_path: Path) -> None:
    has_turn = Event()

    def other() -> None:
        job_begins(SHARE)
        wait_for_turn(SHARE)
        has_turn.set()
        job_ends()

    wait_for_turn(SHARE)
    waiting = Thread(target=other)
    waiting.start()
    assert not has_turn.is_set()
    job_ends()
    waiting.join()
    assert has_turn.is_set()
    assert is_free(tmp_path)


def test_outside_a_job_and_without_a_folder_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/does/not/exist")
    wait_for_turn(SHARE)
    job_ends()
    wait_for_turn(1 << 60)
