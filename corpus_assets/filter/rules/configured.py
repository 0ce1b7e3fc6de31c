"""The sets of row rules that a section configures, in the order in which they are applied."""

from corpus_assets.filter.rules.conditions import conditions
from corpus_assets.filter.rules.documents import discarded_fields, long_enough
from corpus_assets.filter.rules.languages import languages
from corpus_assets.filter.rules.ranges import ranges
from corpus_assets.filter.rules.replacements import replacements
from corpus_assets.filter.rules.section import RuleSection
from resources.documents.row_rule import RuleSet


def configured_rules(section: RuleSection) -> list[RuleSet]:
    """Returns the sets of rules of a section; `ConfigError` for an attribute that does not exist."""
    found = []
    if section["rules"]:
        found.append(ranges(section))
    if section["include"] or section["exclude"]:
        found.append(conditions(section))
    if section["span_replacement"]:
        found.append(replacements(section))
    if section["min_text_length"]:
        found.append(long_enough(section))
    return found


def filter_rules(section: RuleSection) -> list[RuleSet]:
    """Returns the sets of rules of section `filter`, which may also remove optional fields of documents."""
    by_language = [languages(section)] if section["languages"] else []
    discarded = [discarded_fields(section)] if section["discard_fields"] else []
    return [*by_language, *configured_rules(section), *discarded]
