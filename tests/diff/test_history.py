"""The numbers of builds are kept in the store: few, never in the way of a build, and no part of what is built."""

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.diff import history
from corpus_assets.diff.history import before, entries, keep, read, since
from corpus_assets.diff.numbers import Asset, Numbers, flattened, same_content
from corpus_assets.diff.opened import open_side
from corpus_assets.verification.verify import verify
from resources.errors import ConfigError
from resources.storage.local.store import LocalStorage
from tests.build.conftest import built_once, work
from tests.build.small import Work, opened
from tests.forked import run

__all__ = ["built_once", "work"]

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def numbers(digest: str) -> Numbers:
    return Numbers("c", "records", assets={"a": Asset("1", 1, digest)}, sources={"web": {"documents": len(digest)}})


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "store", sync=False)


def test_only_the_last_builds_are_kept(storage: LocalStorage) -> None:
    for day in range(history.KEPT + 7):
        keep(storage, numbers(str(day)), START + timedelta(days=day))
    kept = entries(storage)
    assert [entry.time for entry in kept] == [START + timedelta(days=day) for day in range(7, history.KEPT + 7)]
    assert read(storage, kept[-1]) == numbers(str(history.KEPT + 6))


def test_an_entry_that_cannot_be_read_now_is_not_passed_over(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: LocalStorage, path: str) -> None:
        raise OSError(5, "Input/output error", path)

    keep(storage, numbers("old"), START)
    monkeypatch.setattr(LocalStorage, "open", fails)
    with pytest.raises(OSError, match="Input/output error"):
        before(storage, numbers("now"))


def test_the_build_before_is_the_last_with_other_content(storage: LocalStorage) -> None:
    assert before(storage, numbers("now")) is None
    for day, digest in enumerate(("old", "older", "now", "now")):
        keep(storage, numbers(digest), START + timedelta(days=day))
    found = before(storage, numbers("now"))
    assert found is not None
    assert (found[0].time.day, found[1]) == (2, numbers("older"))
    found = before(storage, numbers("newer than all"))
    assert found is not None
    assert found[0].time.day == 4


def test_a_time_names_the_last_build_up_to_it(storage: LocalStorage) -> None:
    for hours in (0, 10, 30):
        keep(storage, numbers(str(hours)), START + timedelta(hours=hours))
    for asked, expected in (
        ("2026-03-01", "10"),
        ("2026-03-01T12:00", "0"),
        ("2026-03-01 23:59:59", "10"),
        ("2027-01-01", "30"),
    ):
        assert since(storage, asked)[1] == numbers(expected)
    with pytest.raises(ConfigError, match=re.escape("no build up to then is kept; the oldest is of 2026-03-01 12:00")):
        since(storage, "2026-02-28")
    with pytest.raises(ConfigError, match="'yesterday': no time; valid in UTC: 2026-01-31"):
        since(storage, "yesterday")


def test_damaged_entries_and_strange_files_are_passed_over(storage: LocalStorage) -> None:
    keep(storage, numbers("good"), START)
    storage.write("history/2026-03-02T12-00-00.json", b"{damaged")
    storage.write("history/2026-03-03T12-00-00.json", b'{"name": 5}')
    storage.write("history/notes.txt", b"mine")
    assert len(entries(storage)) == 3
    found = before(storage, numbers("now"))
    assert found is not None
    assert found[1] == numbers("good")


def test_a_store_that_takes_no_more_fails_no_build(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: LocalStorage, path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalStorage, "write", full)
    keep(storage, numbers("x"))
    assert entries(storage) == []


def test_builds_that_change_something_are_kept_and_nothing_else_notices(work: Work) -> None:
    top = Path(opened(work.folder).storage.place)
    assert run(work.folder, "build")[0] == 0
    assert not (top / "history").exists()
    for holdout in (0.3, 0.4):
        work.config(split__holdout=holdout)
        assert run(work.folder, "build")[0] == 0
    storage = opened(work.folder).storage
    kept = entries(storage)
    assert 1 <= len(kept) <= 2  # Two builds within a second are one.
    last = read(storage, kept[-1])
    assert last is not None
    assert same_content(last, open_side(work.folder).numbers)
    assert last.configuration["split.holdout"] == 0.4
    assert verify(opened(work.folder), deep=True).unowned == []
    assert clean_corpus(opened(work.folder), dry_run=False).files == 0
    assert entries(storage) == kept
    shutil.rmtree(top / "history")
    assert opened(work.folder).planner().plan().counts()["fresh"] == len(opened(work.folder).planner().plan().decisions)


@pytest.mark.parametrize("make", [dict, list])
def test_lists_of_named_things_are_keyed_by_name(make: Callable[[], object]) -> None:
    value = {"a": {"b": 1, "empty": make()}, "sources": [{"name": "x", "epochs": 2}, {"name": "y", "csv": {"q": None}}]}
    assert flattened(value) == {
        "a.b": 1,
        "a.empty": make(),
        "sources.x.epochs": 2,
        "sources.y.csv.q": None,
    }
