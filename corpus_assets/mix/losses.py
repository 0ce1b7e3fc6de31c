"""A gate for sources of which nothing is left to mix."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from corpus_assets.mix.repeat import NOT_USED
from resources.ledger.ledger import Record
from resources.shards.listing import Listing

_MEANT = frozenset({"duplicate", NOT_USED})
"""Losses that `dedup.max_loss` limits, or that the epochs of the source request."""


def mixed_losses(records: Mapping[str | None, Record], settings: Mapping[str, Any], listing: Listing) -> list[str]:
    """Returns the sources whose documents are all left out of the mix (a gate over all partitions)."""
    faults = []
    for source in settings["sources"]:
        found = [records[key] for key in listing.keys([source["name"]]) if key in records]
        dropped: Counter[str] = Counter()
        for record in found:
            dropped.update(record.statistics.get("dropped", {}))
        kept = sum(record.statistics.get("rows_out", 0) for record in found)
        if not kept and dropped.keys() - _MEANT and not source["may_be_empty"] and source["epochs"]:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(dropped.items()))
            faults.append(
                f"source {source['name']}: none of {dropped.total():,} documents is left for the mix ({reasons}) "
                "(`may_be_empty: true` goes on)"
            )
    return faults
