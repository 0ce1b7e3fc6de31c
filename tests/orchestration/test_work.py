"""How far a build is: by the bytes of the raw files, whatever the partitions are."""

import importlib
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from typing_extensions import override

from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.forecasting.forecast import Costs, Texts, function_of
from corpus_assets.orchestration.building.forecasting.usual_costs import FIXED, USUAL
from corpus_assets.orchestration.building.log import KEPT, BuildLog
from corpus_assets.orchestration.building.report import Progress, Report, Several
from corpus_assets.orchestration.building.work import END, Left, Work, dropped_words, rest_words, speed_words
from resources.ledger.records import Record
from resources.planning.planner import Planner
from resources.stage.jobs.job import Outcome
from tests.build.conftest import built_once, work
from tests.build.small import Work as SmallCorpus
from tests.build.small import opened
from tests.orchestration.silent import Silent

__all__ = ["built_once", "work"]


class Clock:
    """Time that stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def nothing_built(work: SmallCorpus) -> Planner:
    shutil.rmtree(work.folder / "corpus")
    return opened(work.folder).planner()


def outcome(asset: str, key: str | None, seconds: float = 1.0, **numbers: Any) -> Outcome:
    record = Record(
        asset=asset,
        partition=key,
        recipe="",
        digest="",
        inputs={},
        parameters={},
        code_version="1",
        files=[],
        statistics={"seconds": seconds, **numbers},
    )
    return Outcome(f"{asset}/{key}", asset, key, record)


def of_two(planner: Planner, clock: Clock) -> Work:
    return Work(planner, [planner.graph["raw_source"], planner.graph["minhashes"]], 1, clock)


def test_time_left_follows_what_is_measured(nothing_built: Planner) -> None:
    clock = Clock()
    found = of_two(nothing_built, clock)
    assert (found.done, found.due, found.bytes_per_second()) == (0, 14, None)
    shards = nothing_built.listing.shards
    assert found.raw_bytes == sum(shard.bytes for shard in shards)
    usual = found.left()
    assert usual.least == usual.most > 0  # Nothing is stored: all of it will be computed.
    for shard in shards:
        found.took(outcome("raw_source", shard.key))
    clock.now += len(shards)
    for shard in shards[:4]:
        found.took(outcome("minhashes", shard.key, seconds=17, compile_seconds=7))  # Kernels are compiled once.
        clock.now += 10
    assert found.left().most == pytest.approx(10 * len(shards[4:]), rel=0.3)
    found.settled("minhashes")
    assert (found.left(), found.due, found.done) == ((END, END), 11, 11)
    rate = found.bytes_per_second()
    assert rate is not None
    assert rate == pytest.approx(found.raw_bytes / found.seconds)


def test_what_ran_before_says_how_long_the_rest_takes(work: SmallCorpus) -> None:
    corpus = opened(work.folder)
    records = corpus.planner().records("minhashes")
    for record in records.values():
        slow = {**record.statistics, "seconds": 100.0, "compile_seconds": 50.0}
        older = msgspec.structs.replace(record, statistics=slow, code_version="0")
        corpus.ledger.replace(older, corpus.ledger.version("minhashes", record.partition))
    planner = opened(work.folder).planner()
    found = Work(planner, [planner.graph["minhashes"]], 1, Clock())
    assert found.due == len(records)
    assert found.left().most == pytest.approx(50 * len(records), rel=0.05)
    assert found.left().least == pytest.approx(found.left().most)
    found = Work(planner, [planner.graph["minhashes"]], 2, Clock())
    assert found.left().most == pytest.approx(50 * len(records) / 2, rel=0.05)


def test_what_may_turn_out_fresh_is_told_apart(work: SmallCorpus) -> None:
    work.config(short_documents__threshold=61)
    planner = opened(work.folder).planner()
    found = Work(planner, [planner.graph["short_documents"], planner.graph["band_keys"]], 1, Clock())
    least, most = found.left()
    assert 0 < least < most
    stage = planner.graph["band_keys"]
    found.begins(stage)
    assert found.left() == (least, most)
    found.settled("band_keys")
    assert found.left().most == pytest.approx(found.left().least)


def test_workers_that_wait_between_stages_are_counted(nothing_built: Planner) -> None:
    clock = Clock()
    found = Work(nothing_built, list(nothing_built.graph), 2, clock)
    first = found.left().most
    for shard in nothing_built.listing.shards:
        found.took(outcome("raw_source", shard.key, seconds=0.001))
    clock.now += 60  # Of which nobody worked.
    assert found.left().most > first + 60


def test_text_is_guessed_by_the_kind_of_file_until_files_are_read(nothing_built: Planner) -> None:
    texts = Texts(nothing_built)
    raw = Counter({"books": 1000})
    guessed = texts.of(raw)
    shards = {shard.key: shard for shard in nothing_built.listing.shards}
    assert 900 < guessed < 2500
    notes = next(shard for shard in shards.values() if shard.source == "notes")
    texts.read(notes, 9 * notes.bytes)
    assert texts.of(raw) == pytest.approx(10 * guessed, rel=0.01)
    books = next(shard for shard in shards.values() if shard.source == "books")
    texts.read(books, 3 * books.bytes)
    assert texts.of(raw) == pytest.approx(3000)


def test_one_large_file_is_not_shared_by_workers(nothing_built: Planner) -> None:
    texts, stage = Texts(nothing_built), nothing_built.graph["minhashes"]
    even, uneven = Costs(stage, texts, alone=False), Costs(stage, texts, alone=False)
    for seconds in (10.0, 10.0, 10.0, 10.0):
        even.expect(seconds, Counter(), unsure=False)
    for seconds in (37.0, 1.0, 1.0, 1.0):
        uneven.expect(seconds, Counter(), unsure=False)
    assert even.rest(1.0, 4) == pytest.approx(10)
    assert uneven.rest(1.0, 4) == pytest.approx(37)
    assert even.rest(1.0, 2) == pytest.approx(20)
    assert even.rest(2.0, 2) == pytest.approx(40)


def test_usual_costs_are_those_of_functions_that_exist(nothing_built: Planner) -> None:
    known = {function_of(stage) for stage in nothing_built.graph}
    assert len(known & {*USUAL, *FIXED}) > 20
    for name in (*USUAL, *FIXED):
        module, _, function = name.partition(":")
        assert hasattr(importlib.import_module(f"corpus_assets.{module}"), function), name


def test_what_is_dropped_is_counted_by_stage_and_a_sample_drops_nothing(nothing_built: Planner) -> None:
    found = of_two(nothing_built, Clock())
    dropped = {"short": 2, "not_sampled": 90}
    found.took(outcome("minhashes", "books--one", rows_in=100, rows_out=8, dropped=dropped))
    stage = found.stages["minhashes"]
    assert (stage.rows_in, stage.rows_out, stage.not_sampled) == (10, 8, 90)
    assert dropped_words(stage.dropped) == "2 dropped (short 2)"


def test_rows_that_went_elsewhere_are_not_dropped(nothing_built: Planner) -> None:
    found = Work(nothing_built, [nothing_built.graph["holdout"]], 2)
    dropped = {"not_held_out": 90, "repeat_of_held_out": 2}
    found.took(outcome("holdout", "chunk-0000", rows_in=100, rows_out=8, dropped=dropped))
    assert dropped_words(found.stages["holdout"].dropped) == "2 dropped (repeat_of_held_out 2)"


def test_a_failed_partition_and_one_made_again_are_counted(nothing_built: Planner) -> None:
    found = of_two(nothing_built, Clock())
    found.took(Outcome("minhashes/books--one", "minhashes", "books--one", error="it failed"))
    found.took(outcome("inventory", None))
    assert (found.done, found.stages["minhashes"].failed) == (1, 1)


def test_everybody_is_told_and_nobody_must_listen_to_all(nothing_built: Planner) -> None:
    class Quiet(Progress):
        def __init__(self) -> None:
            self.heard: list[str] = []

        def stage(self, stage: Any, due: int) -> None:
            self.heard.append(f"{stage.name} {due}")

        def outcome(self, outcome: Outcome) -> None:
            self.heard.append(outcome.name)

    one, two = Quiet(), Quiet()
    both = Several(one, two)
    stage = nothing_built.graph["minhashes"]
    both.doing("planning")
    both.aside("compiling")
    both.begins(of_two(nothing_built, Clock()))
    both.stage(stage, 3)
    both.outcome(outcome("minhashes", "a"))
    both.settled(stage)
    both.done()
    assert one.heard == two.heard == ["minhashes 3", "minhashes/a"]


def test_logs_are_pruned_and_say_how_far_a_build_is(
    nothing_built: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    clock = Clock()
    for _ in range(KEPT + 3):
        log = BuildLog(tmp_path, "info", clock)
        assert log.path is None
        log.begins(of_two(nothing_built, clock))
        log.ends(Report(notes=["of two\nlines"]))
    assert log.path is not None
    assert len(list(log.path.parent.iterdir())) == KEPT
    assert log.path.read_text().splitlines()[1].endswith("WARNING note: of two lines")
    log = BuildLog(tmp_path, "info", clock)
    log.begins(of_two(nothing_built, clock))
    log.outcome(outcome("raw_source", "books--one"))
    clock.now += 31
    log.outcome(outcome("raw_source", "books--two"))
    log.close()
    assert log.path is not None
    (line,) = [line for line in log.path.read_text().splitlines() if "of 14 partitions" in line]
    assert " left" in line


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (Left(0.0, 0.0004), ["less than 1 s left"]),
        (Left(80.0, 90.0), ["about 1 min 30 s left"]),
        (Left(30.4, 88.0), ["30 s to 1 min 30 s left"]),
        (Left(2100.0, 2164.0), ["about 36 min left"]),
        (Left(100.0, 7500.0), ["1 min 40 s to 2 h 5 min left"]),
    ],
)
def test_what_is_said_of_the_time_left(left: Left, said: list[str]) -> None:
    assert rest_words(left) == said
    assert speed_words(3.1e6) == ["3.1 MB/s of raw files"]


def test_a_log_that_cannot_be_written_stops_no_build(
    nothing_built: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    (tmp_path / ".dagster_home").write_text("a file where a folder should be")
    log = BuildLog(tmp_path)
    log.begins(of_two(nothing_built, Clock()))
    log.ends(Report())
    assert log.path is None


class Told(Silent):
    """Keeps what a build said that it has to do."""

    def __init__(self) -> None:
        self.due: list[dict[str, int]] = []

    @override
    def begins(self, work: Work) -> None:
        self.due.append({name: stage.due for name, stage in work.stages.items()})


@pytest.mark.parametrize("first", ["the first stage", "a later stage"])
def test_a_build_says_once_how_much_it_has_to_do(built_once: Path, tmp_path: Path, first: str) -> None:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    if first == "the first stage":
        (folder / "raw/books/one.jsonl").write_text('{"id": "a", "text": "Something else that is long enough."}\n')
    else:
        config = yaml.safe_load((folder / "corpus.yaml").read_text())
        (folder / "corpus.yaml").write_text(yaml.safe_dump({**config, "short_documents": {"threshold": 61}}))
    told = Told()
    corpus = opened(folder)
    report = build(corpus, list(corpus.graph), told)
    assert report.recomputed
    (due,) = told.due
    assert sum(due.values()) >= report.recomputed
    build(opened(folder), list(opened(folder).graph), told)
    assert len(told.due) == 1
