"""The asset checks of a build: run and reported, some of them early, while workers still compute."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction

from corpus_assets.checking import AsPlanned, WorkersNeededError, asset_key
from corpus_assets.checks import corpus_checks
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.home import dagster_home
from corpus_assets.orchestration.instance import usable
from corpus_assets.orchestration.run_events import RunEvents
from resources.engine.interface import Engine
from resources.errors import CorpusError
from resources.planning.planner import Planner

_MET_AGAIN = (WorkersNeededError, CorpusError, OSError)
"""What may end a check that is run early. It is run again when nothing is computed any more, and may fail then."""


class BuildChecks:
    """Runs asset checks over the state that a planner knows. report: stores an event of the build's run."""

    def __init__(
        self,
        corpus: Corpus,
        planner: Planner,
        instance: dg.DagsterInstance,
        events: RunEvents,
        report: Callable[[dg.DagsterEvent], None],
    ) -> None:
        def checks(engine: Engine | None) -> list[dg.AssetChecksDefinition]:
            return corpus_checks(AsPlanned(corpus.graph, corpus.settings, corpus.storage, planner, engine))

        self._checks = checks(corpus.engine)
        self._without_workers = checks(None)
        self._home = dagster_home(corpus.home)
        self._instance = instance
        self._events = events
        self._report = report
        self._early: dict[dg.AssetCheckKey, list[str]] = {}

    def run(self, assets: Iterable[str]) -> list[str]:
        """Runs the checks of assets that were not run early; returns what failed, in words, early or now."""
        failed = []
        for check, key in _of(self._checks, assets):
            if key in self._early:
                failed += self._early.pop(key)
                continue
            self._plan(key)
            failed += self._told(check, key, _result(check))
        return failed

    def has(self, assets: Iterable[str]) -> bool:
        """Returns whether there are checks of assets."""
        return any(_of(self._without_workers, assets))

    def run_early(self, assets: Iterable[str]) -> None:
        """Runs the checks of assets that want no workers; `run` returns what failed."""
        for check, key in _of(self._without_workers, assets):
            with suppress(*_MET_AGAIN):
                found = _result(check)
                self._plan(key)
                self._early[key] = self._told(check, key, found)

    def forget(self, asset: str) -> None:
        """Takes note that a partition of an asset was made after its checks may have run."""
        for key in [key for key in self._early if key.asset_key == asset_key(asset)]:
            del self._early[key]

    def _plan(self, key: dg.AssetCheckKey) -> None:
        with usable(self._home):
            self._report(self._events.check_planned(key))

    def _told(self, check: dg.AssetChecksDefinition, key: dg.AssetCheckKey, found: dg.AssetCheckResult) -> list[str]:
        """Reports the result of a check; returns what failed, in words."""
        blocking = check.get_spec_for_check_key(key).blocking
        with usable(self._home):
            self._report(self._events.checked(key, found, blocking, self._newest(key.asset_key)))
        if found.passed:
            return []
        return [f"{key.asset_key.to_user_string()}: check {key.name}: {found.description or 'failed'}"]

    def _newest(self, key: dg.AssetKey) -> AssetCheckEvaluationTargetMaterializationData | None:
        for found in self._instance.fetch_materializations(key, limit=1).records:
            return AssetCheckEvaluationTargetMaterializationData(
                storage_id=found.storage_id, run_id=found.run_id, timestamp=found.timestamp
            )
        return None


def _of(
    checks: Iterable[dg.AssetChecksDefinition], assets: Iterable[str]
) -> Iterator[tuple[dg.AssetChecksDefinition, dg.AssetCheckKey]]:
    keys = {asset_key(asset) for asset in assets}
    for one in checks:
        yield from ((one, key) for key in one.check_keys if key.asset_key in keys)


def _result(check: dg.AssetChecksDefinition) -> dg.AssetCheckResult:
    # Not `check()`: that makes a Dagster instance in memory for each call.
    compute = check.op.compute_fn
    assert isinstance(compute, DecoratedOpFunction)
    found = compute.decorated_fn()
    assert isinstance(found, dg.AssetCheckResult)
    return found
