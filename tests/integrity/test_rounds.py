"""Rounds of verification reach every partition in turn; the plan of a repair is what the next build does."""

import json
import random
from pathlib import Path

import msgspec
import pytest

from corpus_assets.cli.verify import repaired, run
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.verification.rounds import READ_WHOLE, Round, seconds_of
from corpus_assets.verification.verify import mended, verify
from resources.errors import ConfigError
from resources.ledger.ledger import Record
from resources.planning.planner import Status
from resources.storage.read_only import ReadOnlyStorage
from tests.build.small import Work, contents, digests, drive, opened
from tests.integrity.test_damaged_files import ONE, flip, path_of

Key = tuple[str, str | None]


class Turns:
    """A clock by which each look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def all_records(corpus: Corpus) -> dict[Key, Record]:
    ledger = corpus.ledger
    return {(asset, key): record for asset in ledger.assets() for key, record in ledger.records(asset).items()}


def watched(part: Round, corpus: Corpus) -> list[Key]:
    """Verifies for one round, and returns what it read."""
    read: list[Key] = []
    noted = part.read

    def both(name: Key) -> None:
        read.append(name)
        noted(name)

    part.read = both  # type: ignore[method-assign]
    assert verify(corpus, deep=True, part=part).bad == []
    return read


def test_rounds_read_everything_once_before_they_read_anything_twice(work: Work) -> None:
    every = all_records(opened(work.folder))
    read: list[Key] = []
    while len(read) < len(every):
        read += watched(Round(opened(work.folder).storage, 25, Turns()), opened(work.folder))
    assert set(read[: len(every)]) == every.keys()
    again = watched(Round(opened(work.folder).storage, 25, Turns()), opened(work.folder))
    assert again[0] == read[len(read) - len(every)]


def test_a_round_reads_at_least_one_partition_and_says_what_is_left(work: Work) -> None:
    corpus = opened(work.folder)
    part = Round(corpus.storage, 0.001, Turns())
    result = verify(corpus, deep=True, part=part)
    assert (result.read, result.left) == (1, len(all_records(corpus)) - 1)
    assert part.oldest.startswith("20")


def test_what_was_committed_since_comes_last(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = opened(work.folder)
    monkeypatch.setattr("corpus_assets.verification.rounds._now", lambda: "2090-01-01T00:00:00+00:00")
    assert verify(corpus, deep=True, part=Round(corpus.storage, 1e9, Turns())).left == 0
    monkeypatch.setattr("corpus_assets.verification.rounds._now", lambda: "2092-01-01T00:00:00+00:00")
    records = all_records(corpus)
    new = ("minhashes", ONE)
    records[new] = msgspec.structs.replace(records[new], created="2091-01-01T00:00:00+00:00")
    assert list(Round(corpus.storage, 1e9, Turns()).turns(records))[-1] == new


def test_a_damaged_partition_is_named_in_its_turn_and_stays_first_until_it_is_mended(work: Work) -> None:
    corpus = opened(work.folder)
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    for _ in range(2):
        found = verify(opened(work.folder), deep=True, part=Round(corpus.storage, 1e9, Turns()))
        assert [(one.asset, one.partition) for one in found.bad] == [("minhashes", ONE)]
        assert found.left == 0
    first = next(iter(Round(corpus.storage, 1, Turns()).turns(all_records(corpus))))
    assert first == ("minhashes", ONE)


@pytest.mark.parametrize("kept", [b"", b"{", b"[]", b'{"": 1}', b'{"x": "9999"}', b"\xff"])
def test_moments_that_cannot_be_read_or_are_still_to_come_count_as_none(work: Work, kept: bytes) -> None:
    corpus = opened(work.folder)
    corpus.storage.write(f"{READ_WHOLE}/minhashes.json", kept)
    result = verify(corpus, deep=True, part=Round(corpus.storage, 1e9, Turns()))
    assert (result.bad, result.left) == ([], 0)
    assert json.loads((Path(corpus.storage.place) / READ_WHOLE / "minhashes.json").read_bytes()).keys() == {
        key or "" for key in corpus.ledger.records("minhashes")
    }


def test_a_store_that_cannot_be_written_is_verified_and_the_reason_said(work: Work) -> None:
    corpus = opened(work.folder)
    part = Round(ReadOnlyStorage(corpus.storage), 1e9, Turns())
    assert verify(corpus, deep=True, part=part).left == 0
    assert "read" in part.not_kept


@pytest.mark.parametrize(("said", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_a_budget_is_a_time(said: str, seconds: float) -> None:
    assert seconds_of(said) == seconds


@pytest.mark.parametrize("said", ["", "10", "0m", "-5m", "10 minutes", "nan", "1e3s", "m"])
def test_a_budget_that_is_none_is_refused_with_what_is_valid(said: str) -> None:
    with pytest.raises(ConfigError, match=r"no time; valid are such as 90s, 10m and 1\.5h"):
        seconds_of(said)


def test_moments_change_neither_plan_nor_content(work: Work) -> None:
    corpus = opened(work.folder)
    before = digests(corpus)
    assert run(work.folder / "corpus.yaml", as_json=True, deep=False, budget="1h") == 0
    assert work.plan() == {}
    assert digests(opened(work.folder)) == before
    assert verify(opened(work.folder), deep=True).unowned == []


def test_a_repair_is_planned_as_the_next_build_then_does_it(work: Work) -> None:
    corpus = opened(work.folder)
    whole = contents(corpus)
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    flip(corpus, path_of(corpus, "train_tokens", "chunk-0001", ".h5"), random.Random(4))
    result = verify(opened(work.folder), deep=True)
    plan, why = repaired(opened(work.folder), result)
    due = {(one.asset, one.partition) for one in plan.decisions if one.status is Status.MISSING}
    assert due == {("minhashes", ONE), ("train_tokens", "chunk-0001")}
    assert why.failed == {}
    assert work.plan() == {}  # Nothing was changed.
    mended(opened(work.folder), result, deep=True)
    again = opened(work.folder)
    done = drive(again, list(again.graph))
    assert done.of("minhashes") | done.of("train_tokens") == {ONE, "chunk-0001"}
    assert contents(opened(work.folder)) == whole


def test_a_repair_plan_is_printed_and_is_not_given_with_mend(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    file = work.folder / "corpus.yaml"
    assert run(file, as_json=False, deep=True, repair_plan=True) == 0
    assert "nothing is to be repaired" in capsys.readouterr().out
    corpus = opened(work.folder)
    flip(corpus, path_of(corpus, "minhashes", ONE, ".signatures.npy"), random.Random(3))
    assert run(file, as_json=False, deep=True, repair_plan=True) == 1
    said = capsys.readouterr()
    assert "minhashes" in said.out + said.err
    assert "After `--mend` a build has this to do" in said.out + said.err
    assert run(file, as_json=True, deep=True, repair_plan=True) == 1
    assert json.loads(capsys.readouterr().out)["repair"]["outlook"]["sure"]["partitions"] == 1
    with pytest.raises(ConfigError, match="give one of them"):
        run(file, as_json=True, deep=True, mend=True, repair_plan=True)
