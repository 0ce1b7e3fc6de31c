"""What a person wants to know about a corpus when a build ends; all of it from commit records."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpus_assets.dataset_names import manifest, params
from corpus_assets.raw.losses import NOT_SAMPLED
from corpus_assets.report.assets import NAME as REPORT
from resources.ledger import Record
from resources.planning.planner import Planner

_READ, _FILTERED, _MIXED = "normalized_documents", "filtered_documents", "mixed_pass1"
_HELD_OUT, _KEPT = "holdout", "decontaminated_train"


@dataclass
class Dataset:
    """The rows and tokens of a dataset, and the folder below the store where they are."""

    name: str
    rows: int
    tokens: int
    folder: str


@dataclass
class Summary:
    """Documents of the raw files, what became of them, and the datasets.

    not_sampled: rows that are not in the sample that this is of a corpus; they are not among `documents`.
    dropped: documents by reason. kept: different documents that are used. repeats: further uses by `epochs`.
    held_out and train: rows of the splits, repeats included. page: path of the report below the store, if it is fresh.
    """

    documents: int = 0
    not_sampled: int = 0
    kept: int = 0
    repeats: int = 0
    held_out: int = 0
    train: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    datasets: list[Dataset] = field(default_factory=list)
    page: str | None = None


def summary(planner: Planner) -> Summary:
    """Returns the summary of what is built now; what is not built counts nothing."""
    read, filtered, mixed = (_total(planner, asset) for asset in (_READ, _FILTERED, _MIXED))
    held_out, train = _total(planner, _HELD_OUT), _total(planner, _KEPT)
    dropped: Counter[str] = Counter()
    for numbers in (read, filtered, mixed, train):
        dropped.update(numbers["dropped"])
    left_out = dropped.pop(NOT_SAMPLED, 0)
    return Summary(
        documents=read.get("rows_in", 0) - left_out,
        not_sampled=left_out,
        kept=mixed.get("documents", 0),
        repeats=mixed.get("repeats", 0),
        held_out=held_out.get("rows_out", 0),
        train=train.get("rows_out", 0),
        dropped={reason: count for reason, count in sorted(dropped.items()) if count},
        datasets=[found for entry in planner.settings.values["datasets"] for found in _dataset(planner, entry["name"])],
        page=_page(planner),
    )


def _page(planner: Planner) -> str | None:
    """Returns the path of the report; None while it does not show what is built now."""
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
