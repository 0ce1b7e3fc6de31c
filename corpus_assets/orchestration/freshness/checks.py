"""The asset check `fresh`: it warns while any partition of an asset is not fresh, so that green never means stale.

A result belongs to no run: every plan (of a build, a step, the sensor, the start of the web UI) reports the results
that have changed.
"""

import time
from collections.abc import Mapping

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.events.check_results import Said, last_said, newest, target
from corpus_assets.orchestration.events.event_batch import event_batch
from corpus_assets.orchestration.events.run_events import NO_JOB, NO_RUN, RunEvents
from corpus_assets.orchestration.freshness.state import Freshness, remember
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.orchestration.shown.markdown import code_list
from resources.stage.declaration import Stage

CHECK = "fresh"


def check_key(asset: str) -> dg.AssetCheckKey:
    """Returns the key of the check of an asset."""
    return dg.AssetCheckKey(asset_key(asset), CHECK)


def fresh_check(stage: Stage) -> dg.AssetCheckSpec:
    """Returns the check of an asset; it blocks nothing."""
    return dg.AssetCheckSpec(
        CHECK,
        asset=asset_key(stage.name),
        description="All partitions are fresh, as `corpus plan` sees it. While any is not, this warns and says why.",
    )


def fresh_result(asset: str, found: Freshness) -> dg.AssetCheckResult:
    """Returns the result of the check."""
    metadata: dict[str, int | dg.MetadataValue] = {f"partitions {status}": n for status, n in found.counts.items()}
    if found.causes:
        metadata["causes"] = dg.MetadataValue.md(code_list(found.causes))
        metadata["first of them"] = dg.MetadataValue.md(code_list(found.listed))
    return dg.AssetCheckResult(
        asset_key=asset_key(asset),
        check_name=CHECK,
        passed=found.fresh,
        severity=dg.AssetCheckSeverity.WARN,
        description=found.words,
        metadata=metadata,
    )


def tell(
    corpus: Corpus, instance: dg.DagsterInstance, found: Mapping[str, Freshness], *, but: str | None = None
) -> int:
    """Reports the results that differ from the last ones, all in one batch; returns their number.

    A result counts for the events of its asset before it, so an asset with a newer event gets one too. An asset that
    was never materialized gets none. but: the asset whose result is reported elsewhere.
    """
    keys = {check_key(name): name for name in found if name != but}
    told = last_said(instance, list(keys))
    seen = newest(instance, [key.asset_key for key in keys])
    events, entries = RunEvents(NO_RUN, NO_JOB), []
    for key, name in keys.items():
        event = seen.get(key.asset_key)
        if event is None:
            continue
        now = Said(found[name].fresh, found[name].words, event.storage_id)
        if told.get(key) != now:
            result = fresh_result(name, found[name])
            entries.append(events.entry(events.checked(key, result, False, target(event)), time.time()))
    if entries:
        with event_batch(instance, NO_RUN) as batch:
            batch.check(entries)
    remember(corpus.storage, dagster_home(corpus.home), found)
    return len(entries)
