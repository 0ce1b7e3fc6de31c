"""A copy that was stopped anywhere holds whole partitions only, and the next one copies the rest."""

import errno
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_assets.copying import copy_corpus
from corpus_assets.verification.verify import verify
from resources.storage.local.unpublished import TEMPORARY
from tests.build.small import Work, live_records, opened
from tests.copying.kill_copy import MOMENTS, copy_and_die
from tests.copying.test_copy import copied, other, stored
from tests.faults.kill_in_stage import FORKS


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [1, 9])
def test_a_killed_copy_holds_whole_partitions_and_the_next_one_goes_on(work: Work, moment: str, number: int) -> None:
    process = FORKS.Process(target=copy_and_die, args=(work.folder, moment, number))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert verify(other(work.folder), deep=True).bad == []
    kept, whole = live_records(other(work.folder)), live_records(opened(work.folder))
    assert {name: whole[name] for name in kept} == kept
    result = copied(work.folder)
    assert result.errors == []
    assert result.already_there >= len(kept)
    assert stored(work.folder / "copy") == stored(work.folder / "corpus")
    assert not list((work.folder / "copy" / TEMPORARY).glob("*"))


def test_a_full_disk_stops_the_copy_and_costs_nothing_that_was_there(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(work.folder, ["train_tokens"])
    before = stored(work.folder / "copy")
    work.config(storage__sync=True)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            copied(work.folder)
    assert stored(work.folder / "copy") == before
    assert not list((work.folder / "copy" / TEMPORARY).glob("*"))
    assert copied(work.folder).errors == []


class StopError(Exception):
    """The copy is stopped here."""


def stops_after(size: int) -> Callable[[int], None]:
    left = [size]

    def on_bytes(count: int) -> None:
        left[0] -= count
        if left[0] < 0:
            raise StopError

    return on_bytes


ASSETS = ("normalized_documents", "mixed_pass1", "train_tokens", "report", "tokenizer")
STEPS = st.one_of(
    st.tuples(st.just("stopped"), st.integers(0, 60_000)),
    st.tuples(st.just("only"), st.sets(st.sampled_from(ASSETS), min_size=1)),
    st.tuples(st.just("lost"), st.integers(0, 10_000)),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=4), st.integers(1, 4))
def test_copies_that_stop_and_go_on_in_any_order_end_equal(
    built_once: Path, tmp_path: Path, steps: list[tuple[str, object]], workers: int
) -> None:
    """Between them files of the copy are lost."""
    folder = tmp_path / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(built_once, folder)
    lost: set[str] = set()
    for kind, value in steps:
        if kind == "stopped":
            with suppress(StopError):
                copy_corpus(opened(folder), other(folder), workers=workers, on_bytes=stops_after(int(str(value))))
        elif kind == "only":
            assert isinstance(value, set)
            assert copy_corpus(opened(folder), other(folder), sorted(value), workers=workers).errors == []
        elif files := sorted(stored(folder / "copy").keys() - set(_records(folder))):
            lost.add(files[int(str(value)) % len(files)])
            (folder / "copy" / files[int(str(value)) % len(files)]).unlink()
        assert {problem.file for problem in verify(other(folder), deep=False).bad} <= lost
    assert verify(other(folder), deep=True).bad == [] or lost
    assert copy_corpus(opened(folder), other(folder), workers=workers).errors == []
    assert stored(folder / "copy") == stored(folder / "corpus")


def _records(folder: Path) -> list[str]:
    return [name for name in stored(folder / "copy") if name.startswith("ledger/")]
