"""Sentences about sources that lose their documents to a template."""

from collections.abc import Iterator, Mapping
from typing import Any

LOST_TO_TEMPLATE = "lost_to_template"
"""Statistic of `components`: sources that lose mainly to a template (`lost.lost_to_template`)."""


def of_templates(statistics: Mapping[str, Any], share: float | None) -> Iterator[str]:
    """Yields a sentence for each source that loses mainly to a template. share: `dedup.template_share`."""
    mends = "a lower `dedup.template_share` leaves more of it out"
    if share is None:
        mends = "`dedup.template_share: 0.5` leaves it out"
    for source, lost in statistics.get(LOST_TO_TEMPLATE, {}).items():
        removed, documents, found, looked_at = (lost[key] for key in ("removed", "documents", "lost", "looked_at"))
        yield (
            f"source {source}: {removed:,} of {documents:,} documents are duplicates of others, mainly by a template: "
            f"without the text that half of them have, {found} of {looked_at} looked at are not like the one kept; "
            f"{mends}"
        )
