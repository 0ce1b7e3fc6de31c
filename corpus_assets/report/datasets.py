"""Tokens of each dataset: requested and reached numbers, and how full its rows are."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.report.model import Dataset, Mixed
from corpus_assets.report.records import Built, by_source, records, summed
from resources.documents.row_counts import added
from resources.ledger.ledger import Record
from resources.stage.partition import Partition

HDF5 = "hdf5"
_TOTALS, _ROWS, _LEARNED = "totals", "h5_dataset_stats", "learned"
_LOST = "lost"
"""Counters of a stream of parts; the files of the dataset count the same."""
_LENGTHS = "token_lengths"


def datasets(built: Built, configuration: Mapping[str, Any]) -> list[Dataset]:
    """Returns the datasets in configured order."""
    return [_dataset(built, entry) for entry in configuration["datasets"]]


def _dataset(built: Built, entry: Mapping[str, Any]) -> Dataset:
    name: str = entry["name"]
    made = built.get(names.files(entry), ())
    found = Dataset(
        name=name,
        format=entry.get("format") or HDF5,
        input=entry["input"] if isinstance(entry["input"], str) else "files of its own",
        sequence_length=entry.get("sequence_length"),
        rows=0,
        tokens=0,
        mixture=_mixture(built, entry),
    )
    if found.format == HDF5:
        found.format = f"{HDF5}, {entry.get('mode') or 'lm'}"
        _add_rows(found, built, name, made)
    else:
        _add_units(found, built, name, made)
    counted = made if is_text(entry) else _counted(built, name)
    found.by_source = by_source(counted) if counted else None
    found.lengths = None if is_text(entry) else _lengths(built, name)
    return found


def _counted(built: Built, name: str) -> Sequence[Partition]:
    """Returns the partitions that tell sources apart: those that saw the documents."""
    sequences = built.get(names.sequences(name), ())
    return sequences or built.get(names.tokens(name), ())


def _add_rows(found: Dataset, built: Built, name: str, made: Sequence[Partition]) -> None:
    rows = [partition.record.counters_of(_ROWS) for partition in made]
    found.rows, found.slots, found.non_pad_tokens, found.loss_tokens = (
        sum(int(one[key]) for one in rows)
        for key in ("num_sequences", "num_tokens", "non_pad_tokens", "loss_valid_tokens")
    )
    found.tokens = found.non_pad_tokens
    for record in records(built, names.params(name)):
        numbers = record.statistics
        found.tokens = numbers.get("tokens") or found.tokens
        found.documents = numbers.get("documents")
        found.packing = list(numbers.get("packing", ()))
        found.discarded = dict(numbers.get("discarded", {}))
        found.sequences_per_row = numbers.get("sequences_per_row") or None
    counters = [record.counters.get("counters", {}) for record in _records_counted(built, name)]
    found.dropped_tokens = summed(one.get("dropped_tokens", {}) for one in counters)


def _records_counted(built: Built, name: str) -> list[Record]:
    return [partition.record for partition in _counted(built, name)]


def _add_units(found: Dataset, built: Built, name: str, made: Sequence[Partition]) -> None:
    totals = summed(
        {key: value for key, value in partition.record.counters_of(_TOTALS).items() if isinstance(value, int)}
        for partition in made
    )
    dropped = [partition.record.counters_of(_TOTALS).get("dropped", {}) for partition in made]
    found.rows, found.documents = totals.get("units", 0), totals.get("documents", 0)
    found.loss_tokens = totals.get(_LEARNED)
    lost = summed({reason: numbers["ids"] for reason, numbers in reasons.items()} for reasons in dropped)
    found.dropped_tokens = {reason: ids for reason, ids in lost.items() if ids}
    found.tokens = totals.get("ids", 0) - sum(lost.values())
    for record in records(built, names.manifest(name)):
        _add_packing(found, record.statistics)
        found.discarded = {reason: count for reason, count in record.statistics.get("discarded", {}).items() if count}
    of_stream = records(built, names.token_stream(names.masked_stream(name)))
    apart = (record.statistics.get("dropped", {}) for record in of_stream if _LOST not in record.counters)
    found.discarded = summed([found.discarded, *apart])


def _add_packing(found: Dataset, statistics: Mapping[str, Any]) -> None:
    """Adds how full rows of several documents are."""
    if "padded_tokens" in statistics and found.sequence_length:
        found.slots = found.rows * found.sequence_length
        found.non_pad_tokens = found.slots - statistics["padded_tokens"]
        found.sequences_per_row = statistics["sequences_per_row"]


def _mixture(built: Built, entry: Mapping[str, Any]) -> dict[str, Mixed]:
    """Returns how each source or unit is used. Its shares are those of corpus.yaml, if they are given there."""
    weights = entry.get("weights") or {}
    shares = weights.get("shares")
    whole = sum(shares.values()) if isinstance(shares, Mapping) else 0
    found: dict[str, Mixed] = {}
    for partition in built.get(names.mixture(entry["name"]), ()):
        stored = partition.json(".json")
        for source, used in (stored.get("units") or stored["sources"]).items():
            asked = shares.get(source, 0) / whole if isinstance(shares, Mapping) and whole else None
            target = used.get("asked", used["target"])
            counted = used.get("documents")
            documents = (counted["available"], counted["asked"], counted["reached"]) if counted else UNSET
            found[source] = Mixed(used["available"], target, used["reached"], used["epochs"], asked, documents)
    return found


def _lengths(built: Built, name: str) -> list[int] | None:
    counted = [record.statistics.get(_LENGTHS) for record in _records_counted(built, name)]
    known = [lengths for lengths in counted if lengths is not None]
    return added(known) if known and len(known) == len(counted) else None
