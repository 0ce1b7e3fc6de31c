"""Rules `include` and `exclude`: a document stays if any of the former matches, and none of the latter."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from corpus_assets.filter.rules.entries import Entries, assets_named_in
from corpus_assets.filter.rules.expressions import Merged, Syntax, compiled, is_true, merged
from resources.row_rule import Drop, Row, RowRule, RuleSet, Verdict
from resources.stage.declaration import Values
from resources.stage.task import Task

INCLUDE, EXCLUDE, SYNTAX = "filter.include", "filter.exclude", "filter.syntax"
Test = Callable[[Merged], bool]


def conditions(expressions: Sequence[str], chosen: Sequence[str] | None, entries: Entries) -> RuleSet:
    """Returns the rules of `filter.include` and `filter.exclude`.

    expressions: of both. chosen: the attributes that they see; None for those that they name.
    """
    return RuleSet(
        "conditions",
        _made,
        attributes=assets_named_in(expressions, chosen, entries),
        parameters=(INCLUDE, EXCLUDE, SYNTAX),
        check_before=_check,
    )


def _check(settings: Values) -> None:
    """Raises `ConfigError` for an expression that cannot be read."""
    section = settings["filter"]
    for name in ("include", "exclude"):
        for place, expression in enumerate(section[name]):
            compiled(expression, section["syntax"], f"filter.{name}.{place}")


def _made(task: Task) -> list[RowRule]:
    syntax: Syntax = task[SYNTAX]
    wanted = [_test(expression, syntax, all, f"{INCLUDE}.{n}") for n, expression in enumerate(task[INCLUDE])]
    rules = [RowRule("include", partial(_included, wanted))] if wanted else []
    for place, expression in enumerate(task[EXCLUDE]):
        unwanted = _test(expression, syntax, any, f"{EXCLUDE}.{place}")
        rules.append(RowRule(f"exclude.{place}", partial(_excluded, unwanted, expression)))
    return rules


def _included(wanted: Sequence[Test], row: Row) -> Verdict:
    document = merged(row)
    return None if any(test(document) for test in wanted) else Drop("no expression matches")


def _excluded(unwanted: Test, expression: str, row: Row) -> Verdict:
    return Drop(f"{expression} matches") if unwanted(merged(row)) else None


def _test(expression: str, syntax: Syntax, of: Callable[[Any], bool], where: str) -> Test:
    """Returns what says whether an expression matches.

    JSONPath matches if it selects anything, also null. jq matches if it gives values, and all of them (to include), or
    any (to exclude) are true.
    """
    select = compiled(expression, syntax, where)
    if syntax == "jsonpath":
        return lambda document: bool(select(document))

    def test(document: Merged) -> bool:
        found = select(document)
        return bool(found) and of(map(is_true, found))

    return test
