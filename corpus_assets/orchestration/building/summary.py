"""A summary of the corpus at the end of a build, from commit records alone."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from corpus_assets.dataset_names import manifest, params
from corpus_assets.raw.losses import NOT_SAMPLED
from corpus_assets.report.assets import NAME as REPORT
from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.stage.declaration import Stage

_READ, _FILTERED, _MIXED = "normalized_documents", "filtered_documents", "mixed_pass1"
_HELD_OUT, _KEPT = "holdout", "decontaminated_train"


class Unfinished(StrEnum):
    """Why a number is missing, or not that of the present configuration."""

    NOT_BUILT = "not built"
    IN_PART = "built in part"
    OUTDATED = "not up to date"


@dataclass
class Dataset:
    """The rows and tokens of a dataset, and the folder below the store where they are."""

    name: str
    rows: int
    tokens: int
    folder: str


@dataclass
class Summary:
    """Documents of the raw files, their fate, and the datasets.

    raw_files: how many there are, and read: how many of them `documents` are of.
    not_sampled: rows that are not in the sample that this is of a corpus; they are not among `documents`.
    dropped: documents by reason.
    kept: different documents that are used.
    repeats: further uses by `epochs`.
    held_out, train: rows of the splits, including repeats; None if nothing is built, which is not 0.
    unfinished: `kept`, `held_out`, `train` and `datasets.NAME` that are not built, or not as all is now; `documents` if
        files of which they are have changed.
    page: path of the report below the store, if it is fresh.
    """

    raw_files: int = 0
    read: int = 0
    documents: int = 0
    not_sampled: int = 0
    kept: int | None = None
    repeats: int | None = None
    held_out: int | None = None
    train: int | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    datasets: list[Dataset] = field(default_factory=list)
    unfinished: dict[str, Unfinished] = field(default_factory=dict)
    page: str | None = None

    def whole(self, number: str) -> bool:
        """Returns whether a number is of a completely built step, possibly before the last change."""
        return self.unfinished.get(number) in (None, Unfinished.OUTDATED)


def summary(planner: Planner) -> Summary:
    """Returns the summary of the present corpus."""
    read, filtered, mixed = (_total(planner, asset) for asset in (_READ, _FILTERED, _MIXED))
    held_out, train = _total(planner, _HELD_OUT), _total(planner, _KEPT)
    dropped: Counter[str] = Counter()
    for numbers in (read, filtered, mixed, train):
        dropped.update(numbers["dropped"])
    left_out = dropped.pop(NOT_SAMPLED, 0)
    datasets = [entry["name"] for entry in planner.settings.values["datasets"]]
    return Summary(
        raw_files=len(planner.partitions(planner.graph[_READ])) if _READ in planner.graph.stages else 0,
        read=len(_records(planner, _READ)),
        documents=read.get("rows_in", 0) - left_out,
        not_sampled=left_out,
        kept=mixed.get("documents"),
        repeats=mixed.get("repeats"),
        held_out=held_out.get("rows_out"),
        train=train.get("rows_out"),
        dropped={reason: count for reason, count in sorted(dropped.items()) if count},
        datasets=[found for name in datasets for found in _dataset(planner, name)],
        unfinished=dict(_unfinished(planner, datasets)),
        page=_page(planner),
    )


def _unfinished(planner: Planner, datasets: Iterable[str]) -> Iterator[tuple[str, Unfinished]]:
    if _READ in planner.graph.stages and _state(planner, planner.graph[_READ]) is Unfinished.OUTDATED:
        yield "documents", Unfinished.OUTDATED
    numbers = [("kept", _MIXED), ("train", _KEPT), ("held_out", _HELD_OUT)]
    numbers += [(f"datasets.{name}", asset) for name in datasets for asset in (params(name), manifest(name))]
    for number, asset in numbers:
        if asset in planner.graph.stages and (state := _state(planner, planner.graph[asset])) is not None:
            yield number, state


def _state(planner: Planner, stage: Stage) -> Unfinished | None:
    built, all_of_it = len(planner.built(stage)), len(planner.partitions(stage))
    if built < all_of_it:
        return Unfinished.IN_PART if built else Unfinished.NOT_BUILT
    return None if planner.all_fresh(stage) else Unfinished.OUTDATED


def _page(planner: Planner) -> str | None:
    """Returns the path of the report; None while it is not up to date."""
    for record in _records(planner, REPORT):
        if planner.all_fresh(planner.graph[REPORT]):
            return str(record.statistics["page"])
    return None


def _total(planner: Planner, asset: str) -> dict[str, Any]:
    """Returns the sums of the numbers of all partitions of an asset; empty if the corpus has no such asset."""
    total: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for record in _records(planner, asset):
        total.update({name: n for name, n in record.statistics.items() if isinstance(n, int)})
        dropped.update(record.statistics.get("dropped", {}))
    return {**total, "dropped": dropped}


def _records(planner: Planner, asset: str) -> list[Record]:
    return planner.built(planner.graph[asset]) if asset in planner.graph.stages else []


def _dataset(planner: Planner, name: str) -> Iterator[Dataset]:
    for record in (*_records(planner, params(name)), *_records(planner, manifest(name))):
        numbers = record.statistics
        folder = record.files[0].path.rpartition("/")[0] if record.files else ""
        yield Dataset(name, numbers.get("rows_out") or 0, numbers.get("tokens") or 0, folder)
