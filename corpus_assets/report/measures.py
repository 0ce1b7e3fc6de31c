"""Values of taggers as histograms over all documents, with the ranges that the filter keeps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.config.selection.attributes import key_prefix
from corpus_assets.report.model import Measure
from corpus_assets.report.records import Built
from resources.documents.score_histograms import added, edges
from resources.stage.partition import Partition

_HISTOGRAMS = "histograms"
MOST = 60


def measures(built: Built, configuration: Mapping[str, Any]) -> tuple[list[Measure], int]:
    """Returns the histograms that shards have, those that the filter cuts first, and how many are left out."""
    cuts = _cuts(configuration)
    found = [measure for asset, partitions in built.items() for measure in _of_asset(asset, partitions, cuts)]
    found.sort(key=lambda measure: not measure.cuts)
    return found[:MOST], max(0, len(found) - MOST)


def _of_asset(asset: str, partitions: Sequence[Partition], cuts: Mapping[str, dict[str, float]]) -> Iterator[Measure]:
    counted = (partition.record.statistics for partition in partitions)
    known = ((numbers.get("rows_out", 0), numbers[_HISTOGRAMS]) for numbers in counted if _HISTOGRAMS in numbers)
    for key, one in added(known).items():
        if one["counts"]:
            yield Measure(asset, key, edges(one), one["counts"], one["none"], cuts.get(key, {}))


def _cuts(configuration: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Returns the ends of the filter's ranges by the attribute keys that they are for."""
    rules = (configuration.get("filter") or {}).get("rules", {})
    found: dict[str, dict[str, float]] = {}
    for name, range_ in rules.items():
        entry, tagger, kind = name.rsplit(".", 2)
        key = "__".join(key_prefix(part) for part in (entry, tagger, kind))
        ends = {end: range_[end] for end in ("min", "max") if range_[end] is not None}
        if range_["of"] == "score" and ends:
            found[key] = {f"filter: {end} {value:g}": value for end, value in ends.items()}
    return found
