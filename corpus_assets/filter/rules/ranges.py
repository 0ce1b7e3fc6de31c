"""Rules `ENTRY.TAGGER.TYPE: {min, max}`: the value of a tagger must lie within a range."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from corpus_assets.filter.rules.entries import Source, source_of
from corpus_assets.filter.rules.section import RuleSection, SectionHooks
from resources.documents.looked_for import LookedFor
from resources.documents.row_rule import Drop, Row, RowRule, RuleSet, Tally, Verdict
from resources.errors import each
from resources.formats.attributes import Span
from resources.stage.task import Task


def ranges(section: RuleSection) -> RuleSet:
    """Returns the rules of a section's `rules`; `ConfigError` for one that names no attribute."""
    rules: Mapping[str, Any] = section["rules"]
    found = each(partial(source_of, name, section.entries, f"{section.where}.rules.{name}") for name in rules)
    sources = dict(zip(rules, found, strict=True))
    assets = tuple(dict.fromkeys(source.asset for source in sources.values()))
    made = partial(_made, rules=rules, sources=sources, where=f"{section.where}.rules")
    hooks = SectionHooks(section, ("rules",))
    return RuleSet("ranges", made, attributes=assets, hooks=hooks, drops=tuple(rules))


def _made(_: Task, rules: Mapping[str, Any], sources: Mapping[str, Source], where: str) -> list[RowRule]:
    return [_rule(name, sources[name], wanted, where) for name, wanted in rules.items()]


def _rule(name: str, source: Source, wanted: Mapping[str, Any], where: str) -> RowRule:
    key = source.key
    outside, tally, looked_for = within(key, **wanted), Tally(), LookedFor("documents", {where: [name]})

    def judge(row: Row) -> Verdict:
        tally.asked += 1
        tally.found += key in row.attributes
        return outside(row)

    def judge_open(row: Row) -> Verdict:
        looked_for.add(row.attributes, [name] if key in row.attributes else [])
        return outside(row)

    return RowRule(name, judge_open, looked_for=(looked_for,)) if source.is_open else RowRule(name, judge, tally=tally)


def within(
    key: str, *, min: float | None, max: float | None, of: str = "score", absent: str | None = None
) -> Callable[[Row], Verdict]:
    """Returns the rule that drops documents whose value under an attribute key is outside a range.

    of, absent: as in `filter.rules` (docs/filter.md).
    """
    least, most = float("-inf") if min is None else min, float("inf") if max is None else max
    if of == "score":
        return _scores(key, least, most, drop_absent=absent == "drop" or (absent is None and min is not None))
    value = _count if of == "count" else covered_share

    def judge(row: Row) -> Verdict:
        found = value(row, row.attributes.get(key, ()))
        return None if least <= found <= most else Drop(_outside(f"{of} {found:g}", found, least, most))

    return judge


def _scores(key: str, least: float, most: float, *, drop_absent: bool) -> Callable[[Row], Verdict]:
    def judge(row: Row) -> Verdict:
        spans = row.attributes.get(key)
        if not spans:
            return Drop("no such span") if drop_absent else None
        for _, _, score in spans:
            if not least <= score <= most:
                return Drop(_outside(f"{score:g}", score, least, most))
        return None

    return judge


def _outside(words: str, value: float, least: float, most: float) -> str:
    return f"{words} is under {least:g}" if value < least else f"{words} is over {most:g}"


def _count(_: Row, spans: Sequence[Span]) -> float:
    return len(spans)


def covered_share(row: Row, spans: Sequence[Span]) -> float:
    """Returns the share of a text's code points that lie in a span; 0 for an empty text."""
    covered = reached = 0
    length = len(row.document.text) if spans else 0
    for start, stop, _ in sorted(spans):
        end = min(stop, length)
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered / length if length else 0.0
