"""A gate for datasets of conversations or preferences that lost too many examples."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from resources.ledger.ledger import Record
from resources.shards.listing import Listing

_SHOWN = 300


def conversation_losses(
    records: Mapping[str | None, Record], settings: Mapping[str, Any], listing: Listing, dataset: str
) -> list[str]:
    """Returns why the rows of a dataset must not be used yet (a gate over all partitions): too few examples gave any.

    Its `max_discarded` is the share of examples that may give none; where there are examples, one at least must.
    """
    (entry,) = (entry for entry in settings["datasets"] if entry["name"] == dataset)
    present = [records[key] for key in listing.keys([dataset]) if key in records]
    dropped, examples = Counter[str](), list[str]()
    for record in present:
        dropped.update(record.statistics.get("dropped", {}))
        examples += record.statistics.get("dropped_examples", [])
    given = sum(map(_given, present))
    lost = dropped.total()
    if not lost or (lost <= entry["max_discarded"] * given and lost < given):
        return []
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in dropped.most_common())
    example = next((f"; for example {text[:_SHOWN]}" for text in examples if dropped.most_common(1)[0][0] in text), "")
    most = f"more than max_discarded {entry['max_discarded']:g} allows" if lost < given else "so there are no rows"
    return [f"dataset {dataset}: {lost:,} of {given:,} examples give no row ({reasons}), {most}{example}"]


def _given(record: Record) -> int:
    """Returns the number of examples, or of the texts made of them where a template makes several of one."""
    dropped = sum(record.statistics.get("dropped", {}).values())
    return int(max(record.statistics.get("rows_in", 0), record.statistics.get("rows_out", 0) + dropped))
