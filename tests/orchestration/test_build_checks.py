"""Checks of a build that want no workers run while these compute; each of them once, unless its asset is rebuilt."""

from typing import Any

import dagster as dg
import pytest

from corpus_assets.checking import Built, asset_key
from corpus_assets.orchestration.building import build_checks
from corpus_assets.orchestration.building.build_checks import BuildChecks
from corpus_assets.orchestration.events.run_events import RunEvents
from resources.engine.local import LocalEngine
from tests.orchestration.runs import Runs

ASSET = "minhashes"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What two checks of an asset note when they run: one that fails, and one that wants workers."""
    noted: list[Any] = []

    def checks(corpus: Built) -> list[dg.AssetChecksDefinition]:
        @dg.asset_check(asset=asset_key(ASSET), name="alone")
        def alone() -> dg.AssetCheckResult:
            noted.append("alone")
            return dg.AssetCheckResult(passed=False, description="not good")

        @dg.asset_check(asset=asset_key(ASSET), name="spread")
        def spread() -> dg.AssetCheckResult:
            noted.append(list(corpus.spread(abs, [-1])))
            return dg.AssetCheckResult(passed=True)

        return [alone, spread]

    monkeypatch.setattr(build_checks, "corpus_checks", checks)
    return noted


@pytest.fixture
def told() -> list[dg.EventLogEntry]:
    """The events that were stored."""
    return []


@pytest.fixture
def checks(runs: Runs, calls: list[Any], told: list[dg.EventLogEntry]) -> BuildChecks:
    corpus = runs.corpus
    return BuildChecks(corpus, corpus.planner(), runs.instance, RunEvents("run", "job"), told.extend)


def test_what_wants_workers_waits_for_the_end(checks: BuildChecks, calls: list[Any]) -> None:
    checks.run_early([ASSET])
    assert calls == ["alone"]
    assert checks.run([ASSET]) == [f"{ASSET}: check alone: not good"]
    assert calls == ["alone", [1]]


def test_an_asset_that_is_made_anew_is_checked_anew(checks: BuildChecks, calls: list[Any]) -> None:
    checks.run_early([ASSET])
    checks.forget("band_keys")
    checks.forget(ASSET)
    assert checks.run([ASSET]) == [f"{ASSET}: check alone: not good"]
    assert calls == ["alone", "alone", [1]]


def test_checks_of_other_assets_do_not_run(checks: BuildChecks, calls: list[Any]) -> None:
    assert (checks.has([ASSET]), checks.has(["band_keys"])) == (True, False)
    checks.run_early(["band_keys"])
    assert (checks.run(["band_keys"]), calls) == ([], [])


def test_results_are_reported_although_a_later_check_ends_with_an_error(
    checks: BuildChecks, calls: list[Any], told: list[dg.EventLogEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_workers(*_: Any) -> None:
        raise OSError("no workers")

    monkeypatch.setattr(LocalEngine, "spread", no_workers)
    with pytest.raises(OSError, match="no workers"):
        checks.run([ASSET])
    planned, checked = (entry.dagster_event_type for entry in told)
    assert planned is dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
    assert checked is dg.DagsterEventType.ASSET_CHECK_EVALUATION
