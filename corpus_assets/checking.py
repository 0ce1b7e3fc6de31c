"""Helpers of asset checks: the partitions they read, and the results they return."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import dagster as dg

from corpus_assets.faults import MAX_FAULTS
from resources.engine.interface import Engine, R, T
from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.stage.graph import Graph
from resources.stage.partition import Partition
from resources.stage.settings import Settings
from resources.storage.interface import Storage

FILTERED_DOCUMENTS = "filtered_documents"
"""The asset of which the corpus is mixed, if it has a filter."""


class WorkersNeededError(Exception):
    """A check needs workers, which are not available now."""


class Built(Protocol):
    """The part of an opened corpus that checks need."""

    @property
    def graph(self) -> Graph:
        """All stages."""

    @property
    def settings(self) -> Settings:
        """The configuration."""

    @property
    def storage(self) -> Storage:
        """The store."""

    def planner(self) -> Planner:
        """Returns a planner for the state of the corpus as it is now."""

    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order; possibly from other processes."""


@dataclass(frozen=True)
class AsPlanned:
    """A corpus whose state a build knows and keeps up to date, so that no check has to read all of it again.

    engine: None while its workers compute; then a check that wants them raises `WorkersNeededError`.
    """

    graph: Graph
    settings: Settings
    storage: Storage
    known: Planner
    engine: Engine | None

    def planner(self) -> Planner:
        """Returns the planner of the build."""
        return self.known

    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order; the workers of the build compute them."""
        if self.engine is None:
            raise WorkersNeededError
        return self.engine.spread(function, items)


def asset_key(name: str) -> dg.AssetKey:
    """Returns the Dagster key of an asset; a slash in the name of a stage of your own makes a prefix."""
    return dg.AssetKey(name.split("/"))


def mixed_documents(corpus: Built) -> str:
    """Returns the asset with the documents for the mix, which attributes in `mix.leave_out` describe."""
    return FILTERED_DOCUMENTS if FILTERED_DOCUMENTS in corpus.graph.stages else "normalized_documents"


def current_partitions(corpus: Built, asset: str) -> list[Partition]:
    """Returns the built partitions of an asset that the corpus still has, so no orphans."""
    built = corpus.planner().built(corpus.graph[asset])
    return [Partition(corpus.storage, record, compared=False) for record in built]


def fresh_records(planner: Planner, asset: str) -> list[Record] | None:
    """Returns the records of all partitions of an asset, or None while any of them is not fresh."""
    stage = planner.graph[asset]
    records = planner.built(stage)
    is_whole = planner.all_fresh(stage) and len(records) == len(planner.partitions(stage))
    return records if is_whole else None


def result(
    faults: Sequence[str], numbers: Mapping[str, int], notes: Mapping[str, dg.MetadataValue] | None = None
) -> dg.AssetCheckResult:
    """Returns a check result, passed if there are no faults; it describes the first fault, and its metadata lists all.

    numbers: shown with the result. notes: further metadata.
    """
    metadata: dict[str, int | dg.MetadataValue] = {"faults": len(faults), **numbers, **(notes or {})}
    if faults:
        lines = [f"- `{fault.replace('`', chr(39))}`" for fault in faults[:MAX_FAULTS]]
        metadata["found"] = dg.MetadataValue.md("\n".join(lines))
    return dg.AssetCheckResult(
        passed=not faults,
        description=faults[0] + (f" (and {len(faults) - 1} more)" if len(faults) > 1 else "") if faults else None,
        metadata=metadata,
    )
