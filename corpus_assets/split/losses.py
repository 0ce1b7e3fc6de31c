"""Splits that come out empty: the reasons to hold back what would read them."""

from collections.abc import Mapping
from typing import Any

from resources.ledger import Record
from resources.shards import Listing
from resources.stage.settings import chunk_key

WHOLLY_HELD_OUT = "wholly_held_out"
"""Statistic of `holdout_selection`: sources of which a count holds out every text, with the number of their texts."""


def holdout_losses(records: Mapping[str | None, Record], settings: Mapping[str, Any], _: Listing) -> list[str]:
    """Returns the sources of which a holdout count leaves nothing to train on (a gate over all partitions)."""
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
    """Returns why a split of the training documents must not be read: all of them are dropped (a gate over all)."""
    chunks = [chunk_key(chunk) for chunk in range(settings["mix"]["chunks"])]
    found = [records[chunk].statistics for chunk in chunks if chunk in records]
    rows_in, rows_out = (sum(numbers.get(name, 0) for numbers in found) for name in ("rows_in", "rows_out"))
    if not rows_in or rows_out or all(source["may_be_empty"] for source in settings["sources"]):
        return []
    return [f"split {split}: none of {rows_in:,} documents is left (`may_be_empty: true` at the sources goes on)"]
