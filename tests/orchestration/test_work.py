"""How far a build is: by the bytes of the raw files, whatever the partitions are."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typing_extensions import override

from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.log import KEPT, BuildLog
from corpus_assets.orchestration.building.report import Progress, Report, Several
from corpus_assets.orchestration.building.work import Work, dropped_words, rest_words, speed_words
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


def test_time_left_goes_by_bytes(nothing_built: Planner) -> None:
    clock = Clock()
    found = of_two(nothing_built, clock)
    assert (found.left(), found.done, found.due) == (None, 0, 14)
    shards = nothing_built.listing.shards
    total = sum(shard.bytes for shard in shards)
    assert found.raw_bytes == total
    for shard in shards:
        found.took(outcome("raw_source", shard.key, seconds=shard.bytes / 1000))
    # The other stage never ran: nobody knows what it costs.
    assert (found.left(), found.bytes_per_second()) == (None, None)
    clock.now += 10
    largest = max(shards, key=lambda shard: shard.bytes)
    compiling = {"seconds": largest.bytes / 500 + 7, "compile_seconds": 7}  # once, not for each byte
    found.took(outcome("minhashes", largest.key, **compiling))
    assert found.left() == pytest.approx((total - largest.bytes) / 500)
    done = (total / 1000 + largest.bytes / 500) / (total / 1000 + total / 500)
    assert found.bytes_per_second() == pytest.approx(done * total / 10)
    found.settled("minhashes")
    assert (found.left(), found.due, found.done) == (0, 8, 8)


def test_what_ran_before_says_how_long_the_rest_takes(work: SmallCorpus) -> None:
    records = opened(work.folder).planner().records("minhashes")
    took = sum(record.statistics["seconds"] for record in records.values())
    for key in list(records)[:3]:
        opened(work.folder).ledger.forget("minhashes", key)
    planner = opened(work.folder).planner()
    found = of_two(planner, Clock())
    assert found.due == 3
    shards = {shard.key: shard.bytes for shard in planner.listing.shards}
    left = sum(shards[str(key)] for key in list(records)[:3])
    kept = [record for key, record in planner.records("minhashes").items() if key not in list(records)[:3]]
    rate = sum(record.statistics["seconds"] for record in kept) / sum(shards[str(one.partition)] for one in kept)
    assert took > 0
    assert found.left() == pytest.approx(left * rate, abs=1e-9)


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
    assert "left" not in line and "/s" not in line  # One stage never ran.


@pytest.mark.parametrize(
    ("left", "said"), [(None, []), (0.0, []), (0.0004, ["less than 1 s left"]), (90.0, ["about 1 min 30 s left"])]
)
def test_what_is_said_of_the_time_left(left: float | None, said: list[str]) -> None:
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
