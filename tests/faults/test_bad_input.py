"""A bad shard, a bad row, a dead worker, a crash in the middle of a commit: each costs its own partition only."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from resources.engine.local import LocalEngine
from resources.errors import ConfigError
from resources.ledger.ledger import Ledger, Record
from resources.stage.declaration import Partitioning, Stage
from resources.stage.graph import Graph
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from resources.stage.task import Task
from tests.build.small import Work, contents, drive, opened, raw_rows, write_config

ONE, FILE = "books--one", "raw/books/one.jsonl"


def cut_gzip(work: Work) -> bytes:
    file = work.folder / "raw/books/two.jsonl.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    return whole


def test_a_bad_shard_fails_alone_and_is_mended(work: Work) -> None:
    rows = raw_rows()["books/one.jsonl"]
    rows[3]["text"] = "Another text, long enough to be used by the corpus that is built in this test. " * 2
    work.rows("books/one.jsonl", rows)
    whole = cut_gzip(work)
    built = drive(opened(work.folder))
    assert [line.partition(": ")[0] for line in built.failed] == ["normalized_documents/books--two"]
    assert "books/two.jsonl.gz" in built.failed[0] or "two.jsonl.gz" in built.failed[0]
    assert built.of("normalized_documents") == {ONE}
    assert built.of("band_keys") == {ONE}
    assert "duplicate_pairs/band-00: band_keys/books--two is waiting" in built.waiting
    assert not built.assets() & {"duplicate_pairs", "components", "mixed_pass2"}
    plan = work.plan()
    assert plan["normalized_documents", "books--two"] == ("stale", "raw_source/books--two changed")
    assert plan["duplicate_pairs", "band-00"] == ("waiting", "band_keys/books--two is waiting")
    (work.folder / "raw/books/two.jsonl.gz").write_bytes(whole)
    built = drive(opened(work.folder))
    assert contents(opened(work.folder)) == contents(work.from_nothing())
    assert built.of("raw_source") == {"books--two"}
    assert "books--two" not in built.of("normalized_documents")


def test_a_shard_that_was_never_good_keeps_the_fan_in_waiting(work: Work) -> None:
    (work.folder / "raw/books/new.parquet").write_bytes(b"PAR1 but no more")
    built = drive(opened(work.folder))
    assert len(built.failed) == 1
    assert "new.parquet" in built.failed[0]
    assert "duplicate_pairs/band-00: band_keys/books--new is missing" in built.waiting
    (work.folder / "raw/books/new.parquet").unlink()
    work.look()
    assert work.rebuild().of("normalized_documents") == set()


def test_a_bad_file_can_be_skipped_and_is_counted(work: Work) -> None:
    cut_gzip(work)
    write_config(work.folder, {"sources.0.on_bad_file": "skip"})
    assert not drive(opened(work.folder)).failed
    record = opened(work.folder).ledger.read("normalized_documents", "books--two")
    assert record is not None
    assert record.statistics["dropped"] == {"bad_file": 1}
    assert record.statistics["rows_out"] == 0
    assert "two.jsonl.gz" in record.statistics["dropped_examples"][0]


@pytest.mark.parametrize("policy", ["skip", "fail"])
def test_a_bad_row_is_counted_or_fails_its_shard_with_file_and_line(work: Work, policy: str) -> None:
    lines = (work.folder / FILE).read_text(encoding="utf-8").splitlines()
    lines[4] = '{"id": "no text"}'
    (work.folder / FILE).write_text("\n".join(lines), encoding="utf-8")
    write_config(work.folder, {"sources.0.on_bad_row": policy})
    built = drive(opened(work.folder))
    if policy == "fail":
        assert len(built.failed) == 1
        assert built.failed[0].startswith("normalized_documents/books--one: books/one.jsonl line 5")
        assert "books--two" in built.of("normalized_documents")
        return
    assert not built.failed
    record = opened(work.folder).ledger.read("normalized_documents", ONE)
    assert record is not None
    assert sum(record.statistics["dropped"].values()) == 1
    assert (record.statistics["rows_in"], record.statistics["rows_out"]) == (9, 8)
    assert "one.jsonl line 5" in record.statistics["dropped_examples"][0]


def dies(task: Task) -> None:
    """A stage function that takes its worker along for one partition."""
    if task.key == "books--three":
        os.kill(os.getpid(), signal.SIGKILL)
    task.save_bytes(f"fragile/{task.key}.txt", task.key.encode())


FRAGILE = Stage(
    name="fragile",
    group="test",
    description="Dies on one shard.",
    partitioning=Partitioning.SHARD,
    compute=dies,
    code_version="1",
    io="records",
)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_dead_worker_fails_its_own_partition_only(work: Work, workers: int) -> None:
    write_config(work.folder, {"engine.workers": workers})
    corpus = opened(work.folder)
    corpus.graph = Graph([*corpus.graph, FRAGILE])
    built = drive(corpus, [corpus.graph["fragile"]])
    (failed,) = built.failed
    assert failed.startswith(
        "fragile/books--three: fragile/books--three: the worker process was killed by signal 9 (SIGKILL)"
    )
    assert "engine.memory" in failed
    assert built.of("fragile") == set(corpus.listing().keys()) - {"books--three"}


def quick(job: Job) -> Outcome:
    """Dies at once for an even partition."""
    if int(job.partition or 0) % 2 == 0:
        os._exit(3)
    return Outcome(job.name, job.stage.name, job.partition)


def test_every_job_has_one_outcome_however_many_workers_die(work: Work) -> None:
    storage = opened(work.folder).storage
    jobs = [Job(FRAGILE, str(number), (), {}, {}, storage, 0) for number in range(10)]
    engine = LocalEngine(2, quick)
    outcomes = list(engine.run(jobs))
    engine.close()
    assert sorted(outcome.partition or "" for outcome in outcomes) == [str(number) for number in range(10)]
    assert {outcome.partition for outcome in outcomes if outcome.error} == {"0", "2", "4", "6", "8"}


def _pid(job: Job) -> Outcome:
    return Outcome(str(os.getpid()), job.stage.name, job.partition)


def test_a_worker_that_dies_between_two_runs_is_replaced(work: Work) -> None:
    job = Job(FRAGILE, "1", (), {}, {}, opened(work.folder).storage, 0)
    engine = LocalEngine(1, _pid)
    (before,) = engine.run([job])
    os.kill(int(before.name), signal.SIGKILL)
    (after,) = engine.run([job])
    engine.close()
    assert after.error is None
    assert after.name != before.name


def crash(*_: Any) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["replace", "remove"])
def test_a_crash_in_the_middle_of_a_commit_leaves_the_partition_out_never_wrong(
    work: Work, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    rows = raw_rows()["books/one.jsonl"]
    rows[3]["text"] = "A text that is new and long enough to stay, told at some length for the purpose. " * 2
    work.rows("books/one.jsonl", rows)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, where, crash)
        built = drive(opened(work.folder))
        assert built.failed and not built.recomputed
        assert all("No space left" in line for line in built.failed)
    corpus = opened(work.folder)
    assert corpus.ledger.read("inventory", None) is None or where == "remove"
    assert not list((Path(corpus.storage.place) / ".tmp").glob("*"))
    work.rebuild()


def test_a_partition_published_but_not_recorded_does_not_exist(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(opened(work.folder))
    write_config(work.folder, {"short_documents.threshold": 80})
    replace = Ledger.replace

    def refuse(ledger: Ledger, record: Record, *before: Any) -> Any:
        if record.partition == ONE:
            crash()
        return replace(ledger, record, *before)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "replace", refuse)
        assert len(drive(opened(work.folder)).failed) == 1
    assert opened(work.folder).ledger.read("short_documents", ONE) is None
    assert work.plan()["short_documents", ONE][0] == "missing"
    write_config(work.folder)
    work.look()
    assert ("short_documents", ONE) in work.rebuild().recomputed
    assert contents(opened(work.folder)) == whole


def test_an_input_that_vanishes_is_an_error_in_words(work: Work) -> None:
    corpus = opened(work.folder)
    planner = corpus.planner()
    corpus.ledger.forget("normalized_documents", ONE)
    corpus.ledger.forget("minhashes", ONE)
    job = Job(
        corpus.graph["minhashes"],
        ONE,
        planner.listing.shards,
        corpus.settings.parameters(corpus.graph["minhashes"], None),
        {},
        corpus.storage,
        1 << 20,
    )
    outcome = run_job(job)
    assert outcome.error is not None
    assert "reads normalized_documents/books--one, which does not exist" in outcome.error


def test_a_folder_of_a_source_that_is_not_there_is_named(work: Work) -> None:
    write_config(work.folder, {"sources.0.location": "raw/none"})
    with pytest.raises(ConfigError, match=r"sources\.books\.location"):
        opened(work.folder).planner()
