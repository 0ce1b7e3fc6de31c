"""The asset checks of a build: run and reported, some of them early, while workers still compute."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import dagster as dg

from corpus_assets.checking import AsPlanned, WorkersNeededError, asset_key
from corpus_assets.checks import corpus_checks
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.events.check_results import check_function, newest, target
from corpus_assets.orchestration.events.run_events import Entry, RunEvents
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.orchestration.instance.instance import usable
from resources.engine.interface import Engine
from resources.errors import CorpusError
from resources.planning.planner import Planner

_MET_AGAIN = (WorkersNeededError, CorpusError, OSError)
"""Errors that may end an early check. It runs again when nothing is computed any more, and may fail then."""


class _Found(NamedTuple):
    """The result of a check. began, ended: seconds since the epoch."""

    key: dg.AssetCheckKey
    result: dg.AssetCheckResult
    blocking: bool
    began: float
    ended: float

    @property
    def failed(self) -> list[str]:
        """The failure in words."""
        if self.result.passed:
            return []
        return [f"{self.key.asset_key.to_user_string()}: check {self.key.name}: {self.result.description or 'failed'}"]


class BuildChecks:
    """Runs asset checks over the state that a planner knows.

    store: stores their events in the build's run. within: the run of Dagster's in whose step the build runs. What is
        checked in that run is not reported here too, since Dagster stores one result of a check for a run.
    """

    def __init__(
        self,
        corpus: Corpus,
        planner: Planner,
        instance: dg.DagsterInstance,
        events: RunEvents,
        store: Callable[[Sequence[Entry]], None],
        *,
        within: dg.DagsterRun | None = None,
    ) -> None:
        def checks(engine: Engine | None) -> list[dg.AssetChecksDefinition]:
            return corpus_checks(AsPlanned(corpus.graph, corpus.settings, corpus.storage, planner, engine))

        self._checks = checks(corpus.engine)
        self._without_workers = checks(None)
        self._home = dagster_home(corpus.home)
        self._instance = instance
        self._events = events
        self._store = store
        self._within = within
        self._early: dict[dg.AssetCheckKey, list[str]] = {}

    def run(self, assets: Iterable[str]) -> list[str]:
        """Runs the checks of assets that did not run early; returns all failures, early or now, in words."""
        found: list[_Found] = []
        failed = []
        try:
            for check, key in _of(self._checks, assets):
                if key in self._early:
                    failed += self._early.pop(key)
                else:
                    found.append(_found(check, key))
        finally:
            self._tell(found)
        return failed + [words for one in found for words in one.failed]

    def has(self, assets: Iterable[str]) -> bool:
        """Returns whether there are checks of assets."""
        return any(_of(self._without_workers, assets))

    def run_early(self, assets: Iterable[str]) -> None:
        """Runs the checks of assets that need no workers; `run` returns the failures."""
        found: list[_Found] = []
        for check, key in _of(self._without_workers, assets):
            with suppress(*_MET_AGAIN):
                found.append(_found(check, key))
        self._tell(found)
        self._early |= {one.key: one.failed for one in found}

    def forget(self, asset: str) -> None:
        """Notes that a partition was made after the checks of its asset may have run."""
        for key in [key for key in self._early if key.asset_key == asset_key(asset)]:
            del self._early[key]

    def _tell(self, found: Sequence[_Found]) -> None:
        """Reports results of checks, all at once."""
        found = [one for one in found if not _is_checked_in(self._within, one.key)]
        if not found:
            return
        with usable(self._home):
            seen = newest(self._instance, {one.key.asset_key for one in found})
            entries = []
            for one in found:
                event = seen.get(one.key.asset_key)
                checked = self._events.checked(one.key, one.result, one.blocking, target(event) if event else None)
                entries += [self._events.entry(self._events.check_planned(one.key), one.began)]
                entries += [self._events.entry(checked, one.ended)]
            self._store(entries)


def _is_checked_in(run: dg.DagsterRun | None, key: dg.AssetCheckKey) -> bool:
    """Returns whether Dagster does a check in a run: one over assets does all of theirs, if it does not name some."""
    if run is None:
        return False
    if run.asset_check_selection is not None:
        return key in run.asset_check_selection
    return key.asset_key in (run.asset_selection or ())


def _of(
    checks: Iterable[dg.AssetChecksDefinition], assets: Iterable[str]
) -> Iterator[tuple[dg.AssetChecksDefinition, dg.AssetCheckKey]]:
    keys = {asset_key(asset) for asset in assets}
    for one in checks:
        yield from ((one, key) for key in one.check_keys if key.asset_key in keys)


def _found(check: dg.AssetChecksDefinition, key: dg.AssetCheckKey) -> _Found:
    began = time.time()
    found = check_function(check)()
    assert isinstance(found, dg.AssetCheckResult)
    return _Found(key, found, check.get_spec_for_check_key(key).blocking, began, time.time())
