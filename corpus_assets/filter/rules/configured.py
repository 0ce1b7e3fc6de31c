"""The sets of row rules that section `filter` of `corpus.yaml` asks for, in the order in which they are asked."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.filter.rules.documents import discarded_fields, long_enough
from corpus_assets.filter.rules.entries import Entries
from corpus_assets.filter.rules.ranges import ranges
from resources.row_rule import RuleSet


def configured_rules(section: Mapping[str, Any] | None, entries: Entries) -> list[RuleSet]:
    """Returns the sets of rules of a section `filter` as plain values; none without a section.

    entries: the attributes that rules may name. `ConfigError` for an attribute that does not exist.
    """
    if section is None:
        return []
    found = []
    if section["rules"]:
        found.append(ranges(section["rules"], entries))
    if section["discard_fields"]:
        found.append(discarded_fields())
    if section["min_text_length"]:
        found.append(long_enough())
    return found
