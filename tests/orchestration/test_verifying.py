"""The job that verifies a round, and the sensor beside it."""

import random

import dagster as dg
import pytest

from corpus_assets.orchestration.jobs import build_job
from corpus_assets.orchestration.sensor import corpus_sensor
from corpus_assets.orchestration.verifying import NAME, verify_job
from tests.build.small import opened
from tests.integrity.test_damaged_files import ONE, flip, path_of
from tests.orchestration.runs import Runs


def budget(said: str) -> dict[str, object]:
    return {"ops": {"verify_a_round": {"config": {"budget": said}}}}


def test_a_round_over_a_whole_store_succeeds_and_changes_nothing_that_is_planned(built: Runs) -> None:
    assert verify_job(built.corpus).execute_in_process(instance=built.instance).success
    planner = built.corpus.planner()
    assert all(planner.all_fresh(stage) for stage in planner.graph if stage.name != "report")


def test_a_damaged_file_fails_the_job_by_name(built: Runs) -> None:
    corpus = opened(built.folder)
    path = path_of(corpus, "minhashes", ONE, ".signatures.npy")
    flip(corpus, path, random.Random(3))
    with pytest.raises(dg.Failure, match=rf"minhashes/{ONE}: {path}: .*digest"):
        verify_job(built.corpus).execute_in_process(instance=built.instance)


def test_a_budget_that_is_none_fails_the_job_with_what_is_valid(built: Runs) -> None:
    with pytest.raises(dg.Failure, match=r"'ten' is no time; valid are such as 90s"):
        verify_job(built.corpus).execute_in_process(instance=built.instance, run_config=budget("ten"))


def test_the_sensor_does_not_wait_for_a_round(built: Runs) -> None:
    run = built.instance.create_run_for_job(verify_job(built.corpus), status=dg.DagsterRunStatus.STARTED)
    assert run.job_name == NAME
    found = corpus_sensor(built.corpus, build_job(built.corpus))(dg.build_sensor_context(instance=built.instance))
    assert not (isinstance(found, dg.SkipReason) and "active" in str(found.skip_message))
    built.instance.create_run_for_job(build_job(built.corpus), status=dg.DagsterRunStatus.STARTED)
    found = corpus_sensor(built.corpus, build_job(built.corpus))(dg.build_sensor_context(instance=built.instance))
    assert isinstance(found, dg.SkipReason)
    assert "active" in str(found.skip_message)
