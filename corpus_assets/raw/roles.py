"""Roles that the configuration of a dataset names but no message of its files has."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.config.naming import ROLE, keys_that_name
from corpus_assets.raw.losses import MANY_ROLES, PREFERENCE_ROLES, ROLES
from resources.documents.looked_for import missing
from resources.stage.partition import Partition


def absent_roles(entry: Mapping[str, Any], partitions: Sequence[Partition]) -> Iterator[str]:
    """Yields a sentence for each role that no message has. entry: the dataset's; partitions: all of its examples.

    Nothing if roles were not counted, as in files whose examples are texts.
    """
    section = SECTIONS.get(entry.get("mode", ""))
    keys = keys_that_name(section, ROLE) if section else []
    statistic = PREFERENCE_ROLES if section and section.shape == "preference" else ROLES
    found: Counter[str] = Counter()
    for partition in partitions:
        found.update(partition.record.statistics.get(statistic, {}))
    if not found or len(found) >= MANY_ROLES:
        return
    for key in keys:
        given = entry[key]
        for role in [given] if isinstance(given, str) else given or ():
            if role not in found:
                there = (f"{name} {count:,}" for name, count in found.most_common())
                of = f"messages of dataset {entry['name']}"
                yield missing(f"datasets.{entry['name']}.{key} {role!r}", found.total(), of, there)
