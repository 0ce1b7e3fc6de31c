"""The sensor launches what the plan says, no more; the jobs are `corpus build`; the code location has all of it."""

from typing import cast

import dagster as dg
import pytest
from dagster._core.storage.tags import RUN_KEY_TAG

from corpus_assets.corpus import Corpus
from corpus_assets.definitions import definitions
from corpus_assets.orchestration import instance, sensor
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.instance import PROCESS_TAG, close_abandoned_runs, process_tags
from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.ranges import RANGE_END, RANGE_START
from corpus_assets.orchestration.runner import BUILD_TAG, WHY_TAG
from corpus_assets.orchestration.sensor import corpus_sensor
from resources.planning.planner import Status
from tests.build.small import digests, opened, prose, write_raw
from tests.orchestration.runs import Runs


def evaluate(runs: Runs) -> list[dg.RunRequest] | dg.SkipReason:
    """The run requests of the sensor now."""
    corpus = runs.corpus
    context = dg.build_sensor_context(instance=runs.instance)
    return cast(list[dg.RunRequest] | dg.SkipReason, corpus_sensor(corpus)(context))


def launch(runs: Runs, request: dg.RunRequest) -> dg.ExecuteInProcessResult:
    """Run one request the way the daemon does: its assets, its tags and key."""
    assembly = assemble(runs.corpus)
    return dg.materialize(
        assembly.assets,
        selection=list(request.asset_selection or []),
        tags={**request.tags, RUN_KEY_TAG: request.run_key or ""},
        instance=runs.instance,
        resources=assembly.resources,
        raise_on_error=False,
    )


def loop(runs: Runs, most: int = 60) -> list[dg.RunRequest]:
    """Evaluate and launch until the sensor finds nothing to start; every request it made."""
    made: list[dg.RunRequest] = []
    for _ in range(most):
        found = evaluate(runs)
        if isinstance(found, dg.SkipReason):
            return made
        for request in found:
            launch(runs, request)
        made += found
    raise AssertionError("the sensor did not come to rest")


def test_from_nothing_to_everything_fresh_with_no_partition_computed_twice(empty: Runs, built: Runs) -> None:
    made = loop(empty)
    assert empty.not_fresh() == []
    assert digests(empty.corpus) == digests(built.corpus)
    assert len({request.run_key for request in made}) == len(made)
    for stage in empty.corpus.graph:
        computed = [one for one in empty.events(stage.name) if _why(one) not in ("", "fresh, not computed again")]
        assert len(computed) == len({one.partition for one in computed})


def _why(event: dg.AssetMaterialization) -> str:
    return str(event.metadata["why"].value) if "why" in event.metadata else ""


def test_after_a_change_only_what_follows_from_it_is_asked_for(built: Runs) -> None:
    rows = [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)]
    write_raw(built.folder, "books/three.jsonl", rows)
    first = evaluate(built)
    assert isinstance(first, list)
    assert [_names(request) for request in first] == [["inventory"], ["raw_source"]]
    assert first[1].tags[RANGE_START] == first[1].tags[RANGE_END] == "books--three"
    assert "raw_source/books--three: raw shard books/three.jsonl changed" in first[1].tags["corpus/why"]
    made = loop(built)
    assert built.not_fresh() == []
    shard_stages = [request for request in made if _names(request) == ["normalized_documents"]]
    assert [request.tags[RANGE_END] for request in shard_stages] == ["books--three"]


def test_all_runs_of_one_tick_have_one_build_id_and_a_reason(built: Runs) -> None:
    rows = [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)]
    write_raw(built.folder, "books/three.jsonl", rows)
    first, again = evaluate(built), evaluate(built)
    assert isinstance(first, list)
    assert isinstance(again, list)
    assert len(first) > 1
    runs = [launch(built, request).dagster_run for request in first]
    (build,) = {run.tags[BUILD_TAG] for run in runs}
    assert {run.run_id for run in built.instance.get_runs(dg.RunsFilter(tags={BUILD_TAG: build}))} == {
        run.run_id for run in runs
    }
    assert all(run.tags[WHY_TAG] for run in runs)
    (other,) = {request.tags[BUILD_TAG] for request in again}
    assert other != build


def _names(request: dg.RunRequest) -> list[str]:
    return [key.to_user_string() for key in request.asset_selection or []]


def test_nothing_is_asked_for_when_all_is_fresh(built: Runs) -> None:
    found = evaluate(built)
    assert isinstance(found, dg.SkipReason)
    assert found.skip_message == f"nothing can start: {_total(built.corpus)} fresh, 0 missing, 0 stale, 0 waiting"


def _total(corpus: Corpus) -> int:
    return len(corpus.planner().plan().decisions)


def test_runs_come_in_batches(built: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensor, "MAX_PARTITIONS", 2)
    for key in built.shards():
        built.corpus.ledger.forget("short_documents", key)
    found = evaluate(built)
    assert isinstance(found, list)
    assert [_names(request) for request in found] == [["short_documents"]]
    assert "and 1 more" in found[0].tags["corpus/why"]
    loop(built)
    assert built.not_fresh() == []


def test_the_sensor_waits_while_a_run_is_active(built: Runs) -> None:
    built.corpus.ledger.forget("components", None)
    job = assemble(built.corpus).job()
    run = built.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    found = evaluate(built)
    assert isinstance(found, dg.SkipReason)
    assert run.run_id[:8] in (found.skip_message or "")
    built.instance.report_run_failed(run)
    assert isinstance(evaluate(built), list)


def test_a_partition_that_fails_is_asked_for_again_only_when_something_changed(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus_assets.orchestration.sensor.time.time", lambda: 10_000.0)
    bad = built.folder / "raw/books/bad.jsonl.gz"
    bad.write_bytes(b"this is no gzip file")
    for _ in range(2):
        found = evaluate(built)
        assert isinstance(found, list)
        for request in found:
            launch(built, request)
    again = evaluate(built)
    assert isinstance(again, dg.SkipReason)
    bad.write_bytes(b"this is still no gzip file")
    changed = evaluate(built)
    assert isinstance(changed, list)
    assert [_names(request) for request in changed] == [["inventory"], ["raw_source"]]


def test_what_fails_again_and_again_keeps_nothing_else_from_its_turn(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster passes over a request whose key a launched run has."""
    monkeypatch.setattr("corpus_assets.orchestration.sensor.time.time", lambda: 10_000.0)
    monkeypatch.setattr(sensor, "MAX_RUNS", 1)
    (built.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    write_raw(built.folder, "books/three.jsonl", [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)])
    launched: set[str | None] = set()
    while isinstance(found := evaluate(built), list) and (new := [one for one in found if one.run_key not in launched]):
        for request in new:
            launch(built, request)
        launched |= {request.run_key for request in new}
    waiting = {name for name, key in built.not_fresh() if key == "books--three"}
    assert waiting == {"duplicates", "mixed_pass1"}


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
    assert build_job(empty.corpus, "normalize").execute_in_process(instance=empty.instance).success
    planner = empty.corpus.planner()
    fresh = {d.asset for d in planner.plan().decisions if d.status is Status.FRESH}
    assert fresh == {"inventory", "raw_source", "normalized_documents", "short_documents"}


def test_a_build_that_fails_says_what_failed(empty: Runs) -> None:
    (empty.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    result = build_job(empty.corpus, "normalize").execute_in_process(instance=empty.instance, raise_on_error=False)
    assert not result.success
    errors = [event.step_failure_data.error for event in result.filter_events(lambda event: event.is_step_failure)]
    assert any(error is not None and "normalized_documents/books--bad" in error.message for error in errors)


def test_the_code_location_has_groups_jobs_schedule_and_sensor(built: Runs) -> None:
    found = definitions(opened(built.folder))
    dg.Definitions.validate_loadable(found)
    repository = found.get_repository_def()
    groups = dict.fromkeys(stage.group for stage in built.corpus.graph)
    assert {f"build_{group}" for group in groups} | {"build_corpus"} <= set(repository.job_names)
    (schedule,) = repository.schedule_defs
    (sensor,) = repository.sensor_defs
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    assert all(repository.get_job(name).description for name in repository.job_names if name != "__ASSET_JOB")
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
    dead |= {"one of an older version": f"{host} {pid} 1.00", "another of those": f"{host} 4194999 5.00"}
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
