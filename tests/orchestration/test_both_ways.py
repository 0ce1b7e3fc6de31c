"""`corpus build` and a Dagster materialization meet the same situations, and leave the same behind."""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec
import pytest

from corpus_assets.checking import asset_key
from corpus_assets.corpus.elsewhere import Elsewhere
from corpus_assets.diff.history import FOLDER as HISTORY
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.runner import LOST_WHY
from corpus_assets.orchestration.freshness.failures import failures
from corpus_assets.orchestration.shown.partition_events import FRESH
from corpus_assets.verification.verify import verify
from resources.engine.local import LocalEngine
from resources.errors import CorpusError
from resources.ledger.ledger import FOLDER, FileRecord, Record, lease_name
from resources.stage.jobs import run_job
from resources.stage.jobs.job import Job, Outcome
from resources.storage.holders import Process
from resources.storage.leases import Held
from tests.build.small import Key
from tests.integrity.test_damaged_files import ONE, flip, path_of
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent

TWO, THREE = "books--two", "books--three"
READER, READ, SOURCE = "band_keys", "minhashes", "normalized_documents"
OTHER = Process(1, "elsewhere", "2026-01-01T00:00:00+00:00", "", "0" * 16)
OLD = "signatures/of-an-older-version.npy"

Way = Callable[[Runs, str], list[str]]
Arrange = Callable[[Runs, pytest.MonkeyPatch], None]


@dataclass
class Left:
    """What a run leaves behind.

    records: what each says, but for times.
    files: paths of all files of partitions that lie there.
    bad: partitions with a damaged file.
    told: data version and reason of the newest event of each partition that was computed.
    observed: the error that Dagster shows of a partition.
    kept: the error that the store keeps of a partition.
    failed: what the run says of its failures.
    """

    records: dict[Key, Any]
    files: set[str]
    bad: set[Key]
    told: dict[Key, tuple[str, str]]
    observed: dict[Key, str]
    kept: dict[Key, str]
    failed: list[str]


def by_build(runs: Runs, asset: str) -> list[str]:
    corpus = runs.corpus
    report = build(corpus, [corpus.graph[asset]], Silent(), instance=runs.instance, checks=False)
    failed = {line.partition(": ")[0] for line in report.failed}
    return [*report.failed, *(line for line in report.waiting if line.partition(": ")[0] not in failed)]


def by_dagster(runs: Runs, asset: str) -> list[str]:
    shards = runs.shards()
    result = runs.materialize(asset, between=(shards[0], shards[-1]))
    if result.success:
        return []
    [event] = result.filter_events(lambda one: one.is_step_failure)
    error, found = event.step_failure_data.error, event.step_failure_data.user_failure_data
    if error is not None and error.cls_name == "KeyboardInterrupt":
        raise KeyboardInterrupt
    assert found is not None, error
    return [str(line) for line in found.metadata["failed"].value]  # type: ignore[union-attr]


WAYS: dict[str, Way] = {"build": by_build, "dagster": by_dagster}


def left(runs: Runs, failed: Iterable[str]) -> Left:
    corpus = runs.corpus
    planner = corpus.planner()
    found = ((name, corpus.ledger.records(name)) for name in corpus.ledger.assets())
    records = {(name, key): _said(record) for name, records in found for key, record in records.items()}
    kept = {(stage.name, key): one.error for stage in corpus.graph for key, one in failures(planner, stage).items()}
    return Left(
        records,
        {path for path in corpus.storage.paths("") if not path.startswith((".", FOLDER, HISTORY))},
        {(problem.asset, problem.partition) for problem in verify(corpus, deep=True).bad},
        dict(_told(runs)),
        dict(_observed(runs)),
        kept,
        sorted(failed),
    )


def _said(record: Record) -> tuple[Any, ...]:
    files = [(file.path, file.digest) for file in record.files]
    return record.recipe, record.digest, record.inputs, files, record.counters


def _told(runs: Runs) -> Iterator[tuple[Key, tuple[str, str]]]:
    for stage in runs.corpus.graph:
        for key, event in runs.latest(stage.name).items():
            why = str(event.metadata["why"].value)
            if why not in (LOST_WHY, FRESH):
                yield (stage.name, key), ((event.tags or {})["dagster/data_version"], why)


def _observed(runs: Runs) -> Iterator[tuple[Key, str]]:
    for stage in runs.corpus.graph:
        for record in runs.instance.fetch_observations(asset_key(stage.name), limit=100).records:
            event = record.asset_observation
            if event is not None and "last failure" in event.metadata:
                yield (stage.name, event.partition), str(event.metadata["last failure"].value)


@pytest.fixture
def both(built_corpus: Path, tmp_path: Path) -> Iterator[dict[str, Runs]]:
    """The same corpus twice, each with a Dagster instance of its own."""
    found = {}
    with dg.DagsterInstance.ephemeral() as one, dg.DagsterInstance.ephemeral() as other:
        for name, instance in zip(WAYS, (one, other), strict=True):
            shutil.copytree(built_corpus, tmp_path / name)
            found[name] = Runs(tmp_path / name, instance)
            found[name].register()
        yield found


def driven(both: dict[str, Runs], arrange: Arrange, asset: str = READER) -> Left:
    """What is left after the situation was met in both ways, which must be the same."""
    found = {}
    for name, way in WAYS.items():
        with pytest.MonkeyPatch.context() as patch:
            arrange(both[name], patch)
            found[name] = left(both[name], way(both[name], asset))
    assert found["dagster"] == found["build"]
    return found["build"]


def forget(runs: Runs, asset: str, *keys: str | None) -> None:
    for key in keys:
        runs.corpus.ledger.forget(asset, key)


def damage(runs: Runs, asset: str, suffix: str, *keys: str) -> None:
    for key in keys:
        flip(runs.corpus, path_of(runs.corpus, asset, key, suffix), random.Random(key))


def computing(patch: pytest.MonkeyPatch, before: Callable[[Job], None]) -> None:
    """Have something called before each partition is computed."""
    compute = run_job._compute

    def watched(job: Job, *rest: Any) -> Any:
        before(job)
        return compute(job, *rest)

    patch.setattr(run_job, "_compute", watched)


def failing(patch: pytest.MonkeyPatch, *names: Key) -> None:
    def fails(job: Job) -> None:
        if (job.stage.name, job.partition) in names:
            raise CorpusError("no space left")

    computing(patch, fails)


def test_a_damaged_input_is_made_again_and_told(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        damage(runs, READ, ".signatures.npy", ONE)
        forget(runs, READER, ONE)

    found = driven(both, arrange)
    assert found.failed == []
    assert found.told.keys() == {(READ, ONE), (READER, ONE)}
    assert found.bad == set()


def test_a_damaged_input_of_a_damaged_input_comes_first(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        damage(runs, SOURCE, ".jsonl.gz", ONE)
        damage(runs, READ, ".signatures.npy", ONE)
        forget(runs, READER, ONE)

    found = driven(both, arrange)
    assert found.failed == []
    assert found.told.keys() == {(SOURCE, ONE), (READ, ONE), (READER, ONE)}
    assert found.bad == set()


def test_inputs_that_damage_each_others_readers_are_made_again_in_the_order_of_the_flow(both: dict[str, Runs]) -> None:
    """One reader meets the damage of what was made from that which another reader finds damaged."""

    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        damage(runs, SOURCE, ".texts.npy", TWO)
        damage(runs, READ, ".signatures.npy", ONE, TWO)
        forget(runs, READER, ONE, TWO, THREE)

    found = driven(both, arrange)
    assert found.failed == []
    assert found.told.keys() >= {(READ, ONE), (READ, TWO), (SOURCE, TWO), (READER, TWO)}


def test_an_input_that_cannot_be_made_again_fails_its_readers_alone(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, patch: pytest.MonkeyPatch) -> None:
        damage(runs, READ, ".signatures.npy", ONE, TWO)
        forget(runs, READER, ONE, TWO)
        failing(patch, (READ, ONE))

    found = driven(both, arrange)
    assert [line.partition(": ")[0] for line in found.failed] == [f"{READER}/{ONE}", f"{READ}/{ONE}"]
    assert found.kept == {(READ, ONE): "no space left"}
    assert found.observed.keys() == {(READ, ONE), (READER, ONE)}
    assert found.told.keys() == {(READ, TWO), (READER, TWO)}
    assert (READ, ONE) not in found.records


def test_an_input_that_is_damaged_again_at_once_fails_its_reader(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, patch: pytest.MonkeyPatch) -> None:
        damage(runs, READ, ".signatures.npy", ONE)
        forget(runs, READER, ONE)

        def damages(job: Job) -> None:
            if job.stage.name == READER and (READ, ONE) in known:
                damage(runs, READ, ".signatures.npy", ONE)
            known.add((job.stage.name, job.partition))

        known = set[Key]()
        computing(patch, damages)

    found = driven(both, arrange)
    assert [line.partition(": ")[0] for line in found.failed] == [f"{READER}/{ONE}"]
    assert found.told.keys() == found.bad == {(READ, ONE)}


def test_a_failed_shard_stops_no_other(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, patch: pytest.MonkeyPatch) -> None:
        forget(runs, READER, ONE, TWO)
        failing(patch, (READER, ONE))

    found = driven(both, arrange)
    assert found.failed == [f"{READER}/{ONE}: no space left"]
    assert found.kept == found.observed == {(READER, ONE): "no space left"}
    assert found.told.keys() == {(READER, TWO)}


def test_a_partition_of_which_the_engine_says_nothing_has_failed(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, patch: pytest.MonkeyPatch) -> None:
        def loses(engine: LocalEngine, jobs: Iterable[Job]) -> Iterator[Outcome]:
            return run(engine, (job for job in jobs if job.partition != ONE))

        run = LocalEngine.run
        forget(runs, READER, ONE, TWO)
        patch.setattr(LocalEngine, "run", loses)

    found = driven(both, arrange)
    assert found.failed == [f"{READER}/{ONE}: the engine lost it"]
    assert found.told.keys() == {(READER, TWO)}


@pytest.fixture(params=["given back", "made by the other"])
def made_by_the_other(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "made by the other")


def test_a_partition_that_another_builder_holds_is_waited_for(both: dict[str, Runs], made_by_the_other: bool) -> None:
    def arrange(runs: Runs, patch: pytest.MonkeyPatch) -> None:
        forget(runs, READER, ONE, TWO)
        held = [runs.corpus.storage.lease(lease_name(READER, ONE), OTHER)]
        other = runs.corpus
        job = other.jobs(other.planner()).job(other.graph[READER], ONE)

        def meanwhile(elsewhere: Elsewhere) -> None:
            waits(elsewhere)
            if held:
                lease = held.pop()
                assert not isinstance(lease, Held)
                lease.release()
                if made_by_the_other:
                    assert run_job.run_job(job).error is None

        waits = Elsewhere.wait
        patch.setattr(Elsewhere, "wait", meanwhile)

    found = driven(both, arrange)
    assert found.failed == []
    reasons = {key: why for key, (_, why) in found.told.items()}
    absent = "not built, or removed by `corpus verify --mend`"
    assert reasons == {
        (READER, ONE): "built by another builder" if made_by_the_other else absent,
        (READER, TWO): absent,
    }


def with_an_old_file(runs: Runs, *keys: str) -> None:
    """Let records of an older version name a file that no new one will have."""
    corpus = runs.corpus
    for key in keys:
        record = corpus.ledger.read(READER, key)
        assert record is not None
        old = f"{OLD}.{key}.npy"
        corpus.storage.write(old, b"old")
        files = [*record.files, FileRecord(old, 3, "0" * 32)]
        corpus.ledger.write(msgspec.structs.replace(record, files=files, code_version="0"))


def test_files_of_a_replaced_record_are_removed(both: dict[str, Runs]) -> None:
    found = driven(both, lambda runs, _: with_an_old_file(runs, ONE, TWO))
    assert found.failed == []
    assert found.told.keys() == {(READER, ONE), (READER, TWO)}
    assert not list(both["build"].corpus.storage.paths(OLD))


def test_a_record_that_names_the_same_file_gives_way_and_its_other_files_go(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        corpus = runs.corpus
        record = corpus.ledger.read(READER, ONE)
        assert record is not None
        corpus.storage.write(OLD, b"old")
        files = [*record.files, FileRecord(OLD, 3, "0" * 32)]
        corpus.ledger.write(msgspec.structs.replace(record, asset="older_keys", files=files))
        forget(runs, READER, ONE)

    found = driven(both, arrange)
    assert found.failed == []
    assert ("older_keys", ONE) not in found.records


def test_an_interrupted_run_keeps_what_it_has_and_the_next_goes_on(both: dict[str, Runs]) -> None:
    def stops(job: Job) -> None:
        if job.partition == TWO:
            raise KeyboardInterrupt
        if job.partition == THREE:
            raise CorpusError("no space left")

    found: dict[str, Left] = {}
    for name, way in WAYS.items():
        runs = both[name]
        with_an_old_file(runs, ONE, TWO, THREE)
        with pytest.MonkeyPatch.context() as patch:
            computing(patch, stops)
            with pytest.raises(KeyboardInterrupt):
                way(runs, READER)
        found[name] = left(runs, [])
    for one in found.values():
        one.told.clear()  # A build tells of each as it comes, a step at its end; the next run tells of all.
        one.observed.clear()
    assert found["dagster"] == found["build"]
    assert found["build"].kept == {(READER, THREE): "no space left"}
    assert found["build"].records[READER, ONE] != found["build"].records[READER, TWO]
    after = {}
    for name, way in WAYS.items():
        after[name] = left(both[name], way(both[name], READER))
        assert both[name].versions(READER) == both[name].recorded(READER)
        after[name].told.clear()
        after[name].observed.clear()
    assert after["dagster"] == after["build"]
    assert after["build"].failed == []
    assert after["build"].kept == {}


def test_raw_files_that_were_rewritten_with_the_same_content_get_their_new_time(both: dict[str, Runs]) -> None:
    def rewritten(runs: Runs) -> set[str | None]:
        corpus = runs.corpus
        return {
            one.partition for one in corpus.planner().decisions(corpus.graph["raw_source"]).values() if one.rewritten
        }

    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        file = runs.folder / "raw/books/one.jsonl"
        file.write_bytes(file.read_bytes())
        assert ONE in rewritten(runs)

    assert driven(both, arrange, "raw_source").told == {}
    assert [rewritten(runs) for runs in both.values()] == [set(), set()]


def test_a_gate_that_the_listing_closes_holds_back(both: dict[str, Runs]) -> None:
    def arrange(runs: Runs, _: pytest.MonkeyPatch) -> None:
        for number in range(20):
            (runs.folder / f"raw/books/{number}.docx").write_bytes(bytes(10_000))
        forget(runs, READ, ONE)

    found = driven(both, arrange, READ)
    assert f"{READ}/{ONE}" in [line.partition(": ")[0] for line in found.failed]
    assert f"{SOURCE} is held back" in found.failed[0]
    assert (READ, ONE) not in found.records


def test_a_run_with_nothing_to_do_leaves_all_as_it_was(both: dict[str, Runs]) -> None:
    before = left(both["build"], [])
    assert driven(both, lambda *_: None) == before
    assert before.records and before.files
