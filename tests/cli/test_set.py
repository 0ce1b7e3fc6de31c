"""`--set` of `corpus build`: what is built with it, where that is said, and what a plan without it says."""

import json
from pathlib import Path

import dagster as dg
import pytest
import yaml

from corpus_assets.cli.build.command import _show
from corpus_assets.cli.console import output
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.building.runner import SET_TAG
from tests.build.small import Work, opened
from tests.faults.command import last_json
from tests.forked import run


def test_a_build_with_a_change_says_it_everywhere_and_the_plan_without_it_is_honest(work: Work) -> None:
    given = ("--set", "split.holdout=0.4", "--set", "engine.workers=2")
    code, out, err = run(work.folder, "build", "--json", *given)
    assert code == 0, err
    report = last_json(out)
    assert report["recomputed"] > 0
    assert report["set"] == ["split.holdout=0.4", "engine.workers=2"]
    assert "with --set split.holdout=0.4" in Path(report["build_log"]).read_text()
    record = opened(work.folder).ledger.read("holdout_selection", None)
    assert record is not None
    assert record.parameters["split.holdout"] == 0.4
    assert record.versions["--set"] == "split.holdout=0.4, engine.workers=2"
    untouched = opened(work.folder).ledger.read("minhashes", "books--one")
    assert untouched is not None
    assert "--set" not in untouched.versions
    with dg.DagsterInstance.from_config(str(work.folder / ".dagster_home")) as instance:
        (made,) = instance.get_runs(limit=1)
    assert made.tags[SET_TAG] == "split.holdout=0.4, engine.workers=2"
    code, out, err = run(work.folder, "plan", "--check")
    assert code == 3, err
    assert "split.holdout 0.4 -> 0.2 (built with --set split.holdout=0.4, engine.workers=2)" in out
    assert run(work.folder, "plan", "--check", *given)[0] == 0
    assert yaml.safe_load((work.folder / "corpus.yaml").read_text())["split"]["holdout"] == 0.2


def test_a_build_without_it_takes_the_change_back(work: Work) -> None:
    before = opened(work.folder).ledger.read("holdout_selection", None)
    assert run(work.folder, "build", "-q", "--set", "split.holdout=0.4")[0] == 0
    code, out, err = run(work.folder, "build", "--json")
    assert code == 0, err
    assert last_json(out)["set"] == []
    after = opened(work.folder).ledger.read("holdout_selection", None)
    assert before is not None
    assert after is not None
    assert after.digest == before.digest
    assert "--set" not in after.versions


def test_the_end_of_a_build_names_the_change(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    _show(output(), Report(changes=("split.holdout=0.4",)), opened(work.folder), None)
    assert (
        "Built with --set split.holdout=0.4: a build of corpus.yaml without it makes again" in capsys.readouterr().out
    )
    _show(output(), Report(), opened(work.folder), None)
    assert "--set" not in capsys.readouterr().out


def test_a_wrong_change_builds_nothing(work: Work) -> None:
    for given, named in (("split.holdout=7", "split.holdout"), ("nonsense.key=1", "unknown key"), ("a", "KEY=VALUE")):
        code, _, err = run(work.folder, "build", "--set", given)
        assert (code, named in err) == (2, True), err
    assert run(work.folder, "plan", "--check")[0] == 0


def test_the_doctor_and_an_estimate_look_at_the_changed_configuration(work: Work) -> None:
    code, out, err = run(work.folder, "doctor", "--json", "--set", "sources.books.location=nowhere")
    assert code == 1, err
    assert "nowhere" in out
    code, out, err = run(work.folder, "estimate", "--seconds", "5", "--json", "--set", "datasets.1.name=other")
    assert code == 0, err
    assert json.loads(out)["tokens"].keys() == {"train", "other"}
