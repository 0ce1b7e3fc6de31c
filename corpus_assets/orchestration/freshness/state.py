"""Whether all of an asset is fresh, in words; and the last report on all assets, without loading Dagster.

Dagster's own marks are not enough: a stale or waiting partition stays green there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec

from corpus_assets.orchestration.freshness.failures import Failure, any_failure, failures
from corpus_assets.orchestration.home.folder import database
from resources.errors import CorpusError
from resources.hashing import content_digest
from resources.ledger.ledger import FOLDER
from resources.planning.planner import Decision, Planner, Status
from resources.stage.declaration import Stage
from resources.storage.interface import Storage

TOLD = f"{FOLDER}/.freshness.json"
"""The last report, and its Dagster database. If this file is lost, Dagster is loaded and asked."""

MAX_CAUSES = 10
MAX_LISTED = 20
_WORDS = {Status.MISSING: "missing", Status.STALE: "stale", Status.WAITING: "waiting"}
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, OSError, CorpusError)


class Freshness(msgspec.Struct, frozen=True):
    """The freshness of an asset.

    words: `3 stale, 12 waiting: raw shard code/part-01 changed`.
    counts: partitions by status, failed ones apart.
    causes: the first of them, each once.
    listed: the first partitions that are not fresh, with their reasons.
    """

    fresh: bool
    words: str
    counts: dict[str, int]
    causes: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


def freshness(planner: Planner) -> dict[str, Freshness]:
    """Returns the freshness of each asset according to a planner, in the order the data flows.

    A waiting partition has the cause of the one it waits for.
    """
    found: dict[str, Freshness] = {}
    some = any_failure(planner.storage)
    for stage in planner.graph:
        decisions = planner.decisions(stage)
        open_ones = [one for one in decisions.values() if one.status is not Status.FRESH]
        if not open_ones:
            found[stage.name] = Freshness(True, _all_fresh(len(decisions)), {"fresh": len(decisions)})
            continue
        failed = failures(planner, stage) if some else {}
        read = (planner.graph[edge.asset] for edge in stage.inputs)
        # Changes of the list of raw files are reported by the raw files themselves.
        upstream = (cause for one in read if not one.lists_shards for cause in found[one.name].causes)
        causes = tuple(islice(dict.fromkeys(_causes(open_ones, failed, upstream)), MAX_CAUSES))
        causes = causes or (open_ones[0].reason,)
        counts = _counts(decisions.values(), failed)
        more = " and others" if len(causes) > 1 else ""
        short = ", ".join(f"{count:,} {status}" for status, count in counts.items() if status != "fresh")
        listed = tuple(f"{one.name}: {_reason(one, failed)}" for one in open_ones[:MAX_LISTED])
        found[stage.name] = Freshness(False, f"{short}: {causes[0]}{more}", counts, causes, listed)
    return found


def unknown(why: str) -> Freshness:
    """Returns the freshness of an asset while no plan can be made."""
    return Freshness(False, f"not known, since no plan can be made: {why}", {}, (why,))


def _all_fresh(partitions: int) -> str:
    return "fresh" if partitions == 1 else f"all {partitions:,} partitions are fresh"


def _causes(
    open_ones: Sequence[Decision], failed: Mapping[str | None, Failure], upstream: Iterable[str]
) -> Iterator[str]:
    """Yields causes, the telling ones first: failures, closed gates, changes, what waits upstream, what is new."""
    yield from (failure.error for failure in failed.values())
    yield from (one.held_back for one in open_ones if one.held_back)
    yield from (one.reason for one in open_ones if one.status is Status.STALE)
    yield from upstream
    yield from (one.reason for one in open_ones if one.status is Status.MISSING)


def _reason(decision: Decision, failed: Mapping[str | None, Failure]) -> str:
    failure = failed.get(decision.partition)
    return f"failed: {failure.error}" if failure else f"{_WORDS[decision.status]}, {decision.reason}"


def _counts(decisions: Iterable[Decision], failed: Mapping[str | None, Failure]) -> dict[str, int]:
    counts = Counter("failed" if one.partition in failed else str(_WORDS.get(one.status, "fresh")) for one in decisions)
    return {status: counts[status] for status in ("failed", "missing", "stale", "waiting", "fresh") if counts[status]}


def decide_again(planner: Planner, but: Iterable[Stage]) -> None:
    """Makes all decisions again after a build, but those of the stages that it was over, which it keeps up to date."""
    built = {stage.name for stage in but}
    for stage in planner.graph:
        if stage.name not in built:
            planner.decide_again(stage, planner.partitions(stage))


class Told(msgspec.Struct, frozen=True):
    """The last report on all assets as a digest, and its Dagster database."""

    database: str
    digest: str


def is_told(storage: Storage, home: Path, found: Mapping[str, Freshness]) -> bool:
    """Returns whether this was the last report, in the Dagster database of this DAGSTER_HOME."""
    with suppress(*_UNREADABLE), storage.open(TOLD) as file:
        return msgspec.json.decode(file.read(), type=Told) == _told(home, found)
    return False


def remember(storage: Storage, home: Path, found: Mapping[str, Freshness]) -> None:
    """Notes the report; does nothing if the store is not writable."""
    if not is_told(storage, home, found):
        with suppress(OSError, CorpusError):
            storage.write(TOLD, msgspec.json.encode(_told(home, found)))


def _told(home: Path, found: Mapping[str, Freshness]) -> Told:
    return Told(database(home), content_digest(msgspec.json.encode({name: one.words for name, one in found.items()})))
