"""Gates for empty splits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resources.ledger.ledger import Record
from resources.shards.listing import Listing
from resources.stage.partition import Partition
from resources.stage.settings import chunk_key

WHOLLY_HELD_OUT = "wholly_held_out"
"""Statistic of `holdout_selection`: sources whose holdout count takes every text, with the number of their texts."""


def holdout_losses(records: Mapping[str | None, Record], settings: Mapping[str, Any], _: Listing) -> list[str]:
    """Returns the sources whose holdout count leaves nothing to train on (a gate over all partitions)."""
    found = records[None].statistics.get(WHOLLY_HELD_OUT, {}) if None in records else {}
    faults = []
    for source in settings["sources"]:
        wanted = settings["split"]["holdout"] if source["holdout"] is None else source["holdout"]
        if source["name"] in found and not source["may_be_empty"] and isinstance(wanted, Mapping):
            faults.append(
                f"source {source['name']}: a holdout of {wanted['count']:,} documents takes all "
                f"{found[source['name']]:,} texts that it has (`may_be_empty: true` goes on)"
            )
    return faults


def split_losses(
    records: Mapping[str | None, Record], settings: Mapping[str, Any], _: Listing, split: str
) -> list[str]:
    """Returns why a split must not be read: all of its documents are dropped (a gate over all partitions)."""
    chunks = [chunk_key(chunk) for chunk in range(settings["mix"]["chunks"])]
    found = [records[chunk].statistics for chunk in chunks if chunk in records]
    rows_in, rows_out = (sum(numbers.get(name, 0) for numbers in found) for name in ("rows_in", "rows_out"))
    if not rows_in or rows_out or all(source["may_be_empty"] for source in settings["sources"]):
        return []
    return [f"split {split}: none of {rows_in:,} documents is left (`may_be_empty: true` at the sources goes on)"]


def empty_notes(partitions: Sequence[Partition], settings: Mapping[str, Any], split: str) -> Iterator[str]:
    """Yields a sentence if a held-out split has no documents, although its share amounts to at least one."""
    numbers = [partition.record.statistics for partition in partitions]
    rows_in, rows_out = (sum(found.get(name, 0) for found in numbers) for name in ("rows_in", "rows_out"))
    share = _share(settings, split)
    if not rows_out and share * rows_in >= 1:
        yield f"split {split} is empty: none of {rows_in:,} documents is in it, and its share is {share:g}"


def _share(settings: Mapping[str, Any], split: str) -> float:
    """Returns the share of documents that a split should get; a count of documents above 0 is the whole."""
    validation = float(settings["split"]["validation"])
    if split == "holdout":
        chosen = [source["holdout"] for source in settings["sources"] if source["holdout"] is not None]
        wanted = [*chosen, *([settings["split"]["holdout"]] if len(chosen) < len(settings["sources"]) else [])]
        return min((bool(one["count"]) if isinstance(one, Mapping) else float(one) for one in wanted), default=0.0)
    return validation if split == "validation" else 1 - validation
