"""The sets of row rules that a section configures, in the order in which they are applied."""

from collections.abc import Callable, Iterator
from functools import partial

from corpus_assets.filter.rules.conditions import conditions
from corpus_assets.filter.rules.documents import discarded_fields, long_enough
from corpus_assets.filter.rules.languages import languages
from corpus_assets.filter.rules.ranges import ranges
from corpus_assets.filter.rules.replacements import replacements
from corpus_assets.filter.rules.section import RuleSection
from resources.documents.row_rule import RuleSet
from resources.errors import each


def configured_rules(section: RuleSection) -> list[RuleSet]:
    """Returns the sets of rules of a section; `ConfigError` for an attribute that does not exist."""
    return each(partial(made, section) for made in _configured(section))


def filter_rules(section: RuleSection) -> list[RuleSet]:
    """Returns the sets of rules of section `filter`, which may also remove optional fields of documents."""
    by_language = [languages] if section["languages"] else []
    discarded = [discarded_fields] if section["discard_fields"] else []
    return each(partial(made, section) for made in (*by_language, *_configured(section), *discarded))


def _configured(section: RuleSection) -> Iterator[Callable[[RuleSection], RuleSet]]:
    if section["rules"]:
        yield ranges
    if section["include"] or section["exclude"]:
        yield conditions
    if section["span_replacement"]:
        yield replacements
    if section["min_text_length"]:
        yield long_enough
