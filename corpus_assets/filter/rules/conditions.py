"""Rules `include` and `exclude`: a document stays if any of the former matches, and none of the latter."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets.filter.rules.entries import assets_named_in
from corpus_assets.filter.rules.expressions import (
    Merged,
    Syntax,
    closed,
    comparisons,
    compiled,
    is_dolma,
    is_true,
    merged,
)
from corpus_assets.filter.rules.names import NamesRead, is_name
from corpus_assets.filter.rules.section import RuleSection, SectionHooks
from resources.documents.looked_for import LookedFor
from resources.documents.row_rule import Drop, Row, RowRule, RuleSet, Verdict
from resources.stage.hooks import Values
from resources.stage.task import Task

INCLUDE, EXCLUDE = "include", "exclude"
Test = Callable[[Merged], bool]


def conditions(section: RuleSection) -> RuleSet:
    """Returns the rules of a section's `include` and `exclude`; `ConfigError` for an attribute that does not exist."""
    expressions = _expressions(section)
    return RuleSet(
        "conditions",
        partial(_made, section=section.values, where=section.where),
        drops=tuple(_names(section.values)),
        attributes=assets_named_in(expressions, section["attributes"], section.entries, section.where),
        hooks=ConditionsHooks(section, ("include", "exclude", "syntax")),
    )


class ConditionsHooks(SectionHooks):
    """The hooks of the filter for these rules."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns a parameter that is new for some expressions: JSONPath used to select nothing from scalars."""
        section = self.section
        paths = _expressions(section) if section["syntax"] == "jsonpath" else []
        values = any(map(_OF_VALUES.search, paths))
        since = {f"{section.where}.filters of values": True} if values else {}
        programs = _expressions(section) if section["syntax"] == "jq" else []
        given = super().derived_parameters(settings)
        return {**given, **since, **comparisons(section, paths), **closed(section, programs)}

    @override
    def check_before(self, settings: Values) -> None:
        """Raises `ConfigError` for an expression that cannot be read."""
        section = self.section
        for name in ("include", "exclude"):
            for place, expression in enumerate(section[name]):
                compiled(expression, section["syntax"], f"{section.where}.{name}.{place}")


_OF_VALUES = re.compile(r"^(?!\$@?(?:\.attributes|\.metadata)?\[\?).*\[\?|\[\?.*\[\?")
"""An expression with a filter on something other than the document, its metadata or its attributes."""


def _expressions(section: RuleSection) -> list[str]:
    return [*section["include"], *section["exclude"]]


def _names(section: Values) -> Iterator[str]:
    if section["include"]:
        yield INCLUDE
    yield from (f"{EXCLUDE}.{place}" for place in range(len(section["exclude"])))


def _made(_: Task, section: Values, where: str) -> list[RowRule]:
    syntax: Syntax = section["syntax"]
    made = partial(_counted, syntax=syntax, dolma=is_dolma(section))
    given = {f"{where}.include.{place}": text for place, text in enumerate(section["include"])}
    wanted = [made(text, of=all, where=place) for place, text in given.items()]
    names = NamesRead({place: (text, syntax) for place, text in given.items()})
    tests, counts = [test for test, _ in wanted], (*(one for _, one in wanted), names.counts)
    rules = [RowRule(INCLUDE, partial(_included, tests, names), looked_for=counts)] if wanted else []
    for number, expression in enumerate(section["exclude"]):
        place = f"{where}.exclude.{number}"
        unwanted, count = made(expression, of=any, where=place)
        names = NamesRead({place: (expression, syntax)})
        judge = partial(_excluded, unwanted, names, expression)
        rules.append(RowRule(f"{EXCLUDE}.{number}", judge, looked_for=(count, names.counts)))
    return rules


def _counted(
    expression: str, syntax: Syntax, of: Callable[[Any], bool], where: str, *, dolma: bool
) -> tuple[Test, LookedFor]:
    """Returns a function that tells whether an expression matches, and the count of documents that it saw."""
    matches = _test(expression, syntax, of, where, dolma=dolma)
    counts = LookedFor("documents", {} if is_name(expression, syntax) else {where: [expression]})

    def test(document: Merged) -> bool:
        found = matches(document)
        counts.add(document.names() if counts.needs_names else (), [expression] if found else [])
        return found

    return test, counts


def _included(wanted: Sequence[Test], names: NamesRead, row: Row) -> Verdict:
    document = merged(row)
    names.add(document)
    return None if any(test(document) for test in wanted) else Drop("no expression matches")


def _excluded(unwanted: Test, names: NamesRead, expression: str, row: Row) -> Verdict:
    document = merged(row)
    names.add(document)
    return Drop(f"{expression} matches") if unwanted(document) else None


def _test(expression: str, syntax: Syntax, of: Callable[[Any], bool], where: str, *, dolma: bool) -> Test:
    """Returns a function that tells whether an expression matches.

    JSONPath matches if it selects anything, even null. jq matches if it gives values of which all (for include) or any
    (for exclude) are true.
    """
    select = compiled(expression, syntax, where, dolma=dolma)
    if syntax == "jsonpath":
        return lambda document: bool(select(document))

    def test(document: Merged) -> bool:
        found = select(document)
        return bool(found) and of(map(is_true, found))

    return test
