"""The sensor launches what the plan says, no more; the jobs are `corpus build`; the code location has all of it."""

import time
from types import SimpleNamespace
from typing import cast

import dagster as dg
import pytest
from dagster._core.storage.tags import RUN_KEY_TAG

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.definitions import definitions
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.building.runner import BUILD_TAG, LOST_WHY, WHY_TAG
from corpus_assets.orchestration.instance import instance
from corpus_assets.orchestration.instance.instance import PROCESS_TAG, close_abandoned_runs, process_tags
from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.sensor import corpus_sensor
from resources.errors import ConfigError, StorageError
from resources.planning.planner import Status
from tests.build.small import digests, opened, prose, write_raw
from tests.orchestration.runs import Runs


def evaluate(runs: Runs) -> dg.RunRequest | dg.SkipReason:
    """What the sensor asks for now."""
    corpus = runs.corpus
    context = dg.build_sensor_context(instance=runs.instance)
    return cast(dg.RunRequest | dg.SkipReason, corpus_sensor(corpus, build_job(corpus))(context))


def launch(runs: Runs, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
    """Run a request the way the daemon does: the job, with its tags and key."""
    tags = {**request.tags, RUN_KEY_TAG: request.run_key or ""}
    return build_job(runs.corpus).execute_in_process(instance=runs.instance, tags=tags, raise_on_error=False)


def loop(runs: Runs, most: int = 4) -> list[dg.RunRequest]:
    """Evaluate and launch until the sensor finds nothing to start; every request it made."""
    made: list[dg.RunRequest] = []
    for _ in range(most):
        found = evaluate(runs)
        if isinstance(found, dg.SkipReason):
            return made
        launch(runs, found)
        made.append(found)
    raise AssertionError("the sensor did not come to rest")


def test_from_nothing_to_everything_fresh_in_one_run(empty: Runs, built: Runs) -> None:
    (made,) = loop(empty)
    assert empty.not_fresh() == []
    assert digests(empty.corpus) == digests(built.corpus)
    (run,) = empty.instance.get_runs()
    assert run.job_name == "build_corpus"
    assert run.tags[RUN_KEY_TAG] == made.run_key
    assert run.tags[PROCESS_TAG] == process_tags()[PROCESS_TAG]
    for stage in empty.corpus.graph:
        assert len(empty.events(stage.name)) == len(empty.latest(stage.name))


def new_rows(runs: Runs) -> None:
    write_raw(runs.folder, "books/three.jsonl", [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)])


def test_after_a_change_one_run_computes_what_follows_from_it(built: Runs) -> None:
    new_rows(built)
    waiting = len(built.not_fresh()) - 1
    request = evaluate(built)
    assert isinstance(request, dg.RunRequest)
    assert request.tags[WHY_TAG] == f"inventory: books--three changed and {waiting} more"
    run = launch(built, request).dagster_run
    assert built.not_fresh() == []
    newest = built.latest("normalized_documents")
    assert {key for key, event in newest.items() if event.metadata["why"].value != LOST_WHY} == {"books--three"}
    told = built.instance.get_run_by_id(run.run_id)
    assert told is not None
    assert told.tags[BUILD_TAG] == run.run_id
    assert isinstance(evaluate(built), dg.SkipReason)


def test_nothing_is_asked_for_when_all_is_fresh(built: Runs) -> None:
    found = evaluate(built)
    assert isinstance(found, dg.SkipReason)
    assert found.skip_message == f"nothing can start: {_total(built.corpus)} fresh, 0 missing, 0 stale, 0 waiting"


def _total(corpus: Corpus) -> int:
    return len(corpus.planner().plan().decisions)


def test_the_reason_of_a_run_holds_how_much_more_there_is_however_long_it_is(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus_assets.orchestration.sensor.MAX_WHY", 30)
    new_rows(built)
    request = evaluate(built)
    assert isinstance(request, dg.RunRequest)
    more = f" and {len(built.not_fresh()) - 1} more"
    assert request.tags[WHY_TAG] == "inventory: books--three changed"[: 30 - len(more)] + more


def test_the_sensor_waits_while_a_run_is_active(built: Runs) -> None:
    built.corpus.ledger.forget("components", None)
    job = assemble(built.corpus).job()
    run = built.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    found = evaluate(built)
    assert isinstance(found, dg.SkipReason)
    assert run.run_id[:8] in (found.skip_message or "")
    built.instance.report_run_failed(run)
    assert isinstance(evaluate(built), dg.RunRequest)


def test_the_environment_says_how_often_the_sensor_looks(built: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds() -> int | None:
        return corpus_sensor(built.corpus, build_job(built.corpus)).minimum_interval_seconds

    monkeypatch.delenv("CORPUS_SENSOR_SECONDS", raising=False)
    assert seconds() == 120
    monkeypatch.setenv("CORPUS_SENSOR_SECONDS", "15")
    assert seconds() == 15
    for wrong in ("0", "-1", "1.5", "soon", "²"):
        monkeypatch.setenv("CORPUS_SENSOR_SECONDS", wrong)
        with pytest.raises(ConfigError, match="CORPUS_SENSOR_SECONDS: received"):
            seconds()


def test_the_sensor_plans_with_the_configuration_as_it_is_now(built: Runs) -> None:
    sensor = corpus_sensor(built.corpus, build_job(built.corpus))  # Of a code location that nobody reloads.

    def look() -> dg.RunRequest | dg.SkipReason:
        return cast(dg.RunRequest | dg.SkipReason, sensor(dg.build_sensor_context(instance=built.instance)))

    assert isinstance(look(), dg.SkipReason)
    file = built.folder / "corpus.yaml"
    given = file.read_text()
    file.write_text(given.replace("dedup:\n", "dedup:\n  threshold: 0.7\n"))
    asked = look()
    assert isinstance(asked, dg.RunRequest)
    assert "dedup.threshold" in asked.tags[WHY_TAG]
    launch(built, asked)  # A run is a process of its own, which reads the file.
    assert isinstance(look(), dg.SkipReason)
    assert built.not_fresh() == []

    file.write_text(given.replace("dedup:\n", "dedup:\n  treshold: 0.7\n"))
    with pytest.raises(ConfigError, match="did you mean 'threshold'"):
        look()
    file.write_text(given)
    assert isinstance(look(), dg.RunRequest)


def at(monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    """Let so many hours pass for the sensor."""
    now = time.time() + 3600 * hours
    monkeypatch.setattr("corpus_assets.orchestration.sensor.time", SimpleNamespace(time=lambda: now))


def test_a_partition_that_fails_is_tried_again_only_when_something_changed_or_after_an_hour(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = built.folder / "raw/books/bad.jsonl.gz"
    bad.write_bytes(b"this is no gzip file")
    assert len(loop(built)) == 1
    again = evaluate(built)
    assert isinstance(again, dg.SkipReason)
    assert (again.skip_message or "").startswith("what can start has failed: normalized_documents/books--bad: ")
    bad.write_bytes(b"this is still no gzip file")
    assert len(loop(built)) == 1
    at(monkeypatch, 1.01)
    assert isinstance(evaluate(built), dg.RunRequest)


def test_what_fails_keeps_nothing_else_from_its_turn(built: Runs) -> None:
    bad = "books--bad"
    (built.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    loop(built)
    new_rows(built)
    assert len(loop(built)) == 1
    assert "books--three" in built.latest("normalized_documents")
    assert {key for name, key in built.not_fresh() if name == "normalized_documents"} == {bad}


def test_a_run_that_fails_before_any_partition_is_not_made_again_at_every_tick(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as over a store that is full: no partition has failed then."""
    new_rows(built)
    first = evaluate(built)
    assert isinstance(first, dg.RunRequest)
    with monkeypatch.context() as patched:
        patched.setattr("corpus_assets.orchestration.jobs.build", _full)
        run = launch(built, first).dagster_run
    again = evaluate(built)
    assert isinstance(again, dg.SkipReason)
    assert f"run {run.run_id[:8]} ended as FAILURE" in (again.skip_message or "")
    at(monkeypatch, 1.01)
    assert isinstance(evaluate(built), dg.RunRequest)


def _full(*_: object, **__: object) -> None:
    raise StorageError("no space left")


def test_build_corpus_builds_everything_and_reports_it_in_its_own_run(empty: Runs, built: Runs) -> None:
    result = build_job(empty.corpus).execute_in_process(instance=empty.instance)
    assert result.success
    assert empty.not_fresh() == []
    assert digests(empty.corpus) == digests(built.corpus)
    (run,) = empty.instance.get_runs()
    assert (run.run_id, run.status) == (result.run_id, dg.DagsterRunStatus.SUCCESS)
    for stage in empty.corpus.graph:
        assert empty.versions(stage.name) == empty.recorded(stage.name)
    again = build_job(empty.corpus).execute_in_process(instance=empty.instance)
    assert again.success
    assert len(empty.instance.get_runs()) == 2


def test_a_group_job_builds_up_to_its_group(empty: Runs) -> None:
    assert build_job(empty.corpus, "documents").execute_in_process(instance=empty.instance).success
    planner = empty.corpus.planner()
    fresh = {d.asset for d in planner.plan().decisions if d.status is Status.FRESH}
    assert fresh == {"inventory", "raw_source", "normalized_documents"}


def test_a_build_that_fails_says_what_failed(empty: Runs) -> None:
    (empty.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    result = build_job(empty.corpus, "documents").execute_in_process(instance=empty.instance, raise_on_error=False)
    assert not result.success
    errors = [event.step_failure_data.error for event in result.filter_events(lambda event: event.is_step_failure)]
    assert any(error is not None and "normalized_documents/books--bad" in error.message for error in errors)


def test_the_code_location_has_groups_jobs_schedule_and_sensor(built: Runs) -> None:
    found = definitions(opened(built.folder))
    dg.Definitions.validate_loadable(found)
    repository = found.get_repository_def()
    groups = dict.fromkeys(stage.group for stage in built.corpus.graph)
    assert {f"build_{group}" for group in groups} | {"build_corpus"} <= set(repository.job_names)
    schedules = {schedule.name: schedule for schedule in repository.schedule_defs}
    assert schedules.keys() == {"nightly_build", "nightly_verification"}
    (sensor,) = repository.sensor_defs
    assert {one.default_status for one in schedules.values()} == {dg.DefaultScheduleStatus.STOPPED}
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    jobs = {name: repository.get_job(name).description for name in repository.job_names if name != "__ASSET_JOB"}
    assert all(jobs.values()) and len({*jobs.values()}) == len(jobs)
    assert str(jobs["build_mix"]).startswith("mixed_pass1, mixed_pass2, and everything that is read for them: ")
    graph = repository.asset_graph
    for key in graph.materializable_asset_keys:
        node = graph.get(key)
        assert node.description
        assert node.group_name in groups
        assert node.owners
        assert node.kinds


def test_runs_of_a_killed_build_are_closed_and_others_left_alone(built: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    job = assemble(built.corpus).job()
    mine = process_tags()
    host, pid, began = mine[PROCESS_TAG].rsplit(" ", 2)
    place, _, ticks = began.partition("/")
    dead = {"a recycled pid": f"{host} {pid} {place}/1", "a pid that is gone": f"{host} 4194999 {began}"}
    dead |= {"one that tells no place": f"{host} {pid} 1.00", "another of those": f"{host} 4194999 5.00"}
    alive = {"this process": mine[PROCESS_TAG], "another machine": f"elsewhere {pid} {began}"}
    unknown = {
        "a container of this name": f"{host} {pid} {place}0/1",
        "before this machine was started": f"{host} {pid} 0{place}/{ticks}",
    }
    started = dg.DagsterRunStatus.STARTED
    runs = {
        name: built.instance.create_run_for_job(job, status=started, tags={PROCESS_TAG: tag})
        for name, tag in (dead | alive | unknown).items()
    }
    runs["no build"] = built.instance.create_run_for_job(job, status=started)
    assert close_abandoned_runs(built.instance) == len(dead)
    left = {name for name, run in runs.items() if _status(built, run) is started}
    assert left == {*alive, *unknown, "no build"}
    monkeypatch.setattr(instance, "DAY", 0)
    assert close_abandoned_runs(built.instance) == len(unknown)
    left = {name for name, run in runs.items() if _status(built, run) is started}
    assert left == {*alive, "no build"}


def _status(runs: Runs, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = runs.instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def test_what_is_lost_again_as_it_was_before_is_made_again(built: Runs) -> None:
    """The state is that of a run which made it; only a run that left it as it was is a reason to wait."""
    for asset, key in (("minhashes", "web--b"), ("report", None)):
        for _ in range(3):
            built.corpus.ledger.forget(asset, key)
            assert len(loop(built)) == 1, asset
            assert built.not_fresh() == []


def test_what_a_run_left_as_it_was_waits(built: Runs) -> None:
    built.corpus.ledger.forget("minhashes", "web--b")
    request = evaluate(built)
    assert isinstance(request, dg.RunRequest)
    tags = {**request.tags, RUN_KEY_TAG: request.run_key or ""}
    run = built.instance.create_run_for_job(build_job(built.corpus), tags=tags)
    built.instance.report_run_canceled(run)
    found = evaluate(built)
    assert isinstance(found, dg.SkipReason)
    assert "left it as it is" in str(found.skip_message)
