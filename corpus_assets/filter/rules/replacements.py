"""Rules `span_replacement`: pieces of the text that attributes mark are replaced."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from corpus_assets.filter.rules.entries import Entries, assets_named_in, source_of
from corpus_assets.filter.rules.expressions import compiled, merged
from corpus_assets.filter.spans import replaced_as_dolma
from resources.errors import CorpusError
from resources.row_rule import Replace, Replacement, Row, RowRule, RuleSet, Verdict
from resources.stage.declaration import Values
from resources.stage.task import Task

REPLACEMENTS, COMPAT = "filter.span_replacement", "filter.compat"
_COMPUTED, _ESCAPED = "$", "$$"
Fill = Callable[[Row], str]
Found = Callable[[Row], Sequence[Sequence[Any]]]


class SpanError(CorpusError):
    """An expression selected something that is no list of spans."""


def replacements(section: Mapping[str, Any], entries: Entries) -> RuleSet:
    """Returns the rules of `filter.span_replacement`; `ConfigError` for one that names no attribute.

    section: `filter`, as plain values.
    """
    keys: list[str | None] = []
    assets: list[str] = []
    for place, wanted in enumerate(section["span_replacement"]):
        expressions = [wanted["replacement"]] if _is_computed(wanted["replacement"]) else []
        if wanted["syntax"] == "attribute":
            source = source_of(wanted["span"], entries, f"{REPLACEMENTS}.{place}.span")
            keys.append(source.key)
            assets.append(source.asset)
        else:
            keys.append(None)
            expressions.append(wanted["span"])
        assets += assets_named_in(expressions, section["attributes"], entries)
    dolma = section["compat"] == "dolma"
    return RuleSet(
        "span_replacement",
        partial(_made, keys=tuple(keys)),
        attributes=tuple(dict.fromkeys(assets)),
        parameters=(REPLACEMENTS, COMPAT),
        check_before=_check,
        replaced=replaced_as_dolma if dolma else None,
    )


def _is_computed(text: str) -> bool:
    return text.startswith(_COMPUTED) and not text.startswith(_ESCAPED)


def _check(settings: Values) -> None:
    """Raises `ConfigError` for an expression that cannot be read."""
    for place, wanted in enumerate(settings["filter"]["span_replacement"]):
        where = f"{REPLACEMENTS}.{place}"
        if wanted["syntax"] != "attribute":
            compiled(wanted["span"], wanted["syntax"], f"{where}.span")
        if _is_computed(wanted["replacement"]):
            compiled(wanted["replacement"][1:], "jq", f"{where}.replacement")


def _made(task: Task, keys: Sequence[str | None]) -> list[RowRule]:
    rules = []
    for place, (wanted, key) in enumerate(zip(task[REPLACEMENTS], keys, strict=True)):
        where = f"{REPLACEMENTS}.{place}"
        found = _selected(wanted["span"], wanted["syntax"], where) if key is None else partial(_beside, key)
        fill = _filled(wanted["replacement"], where, compat=task[COMPAT])
        least = float("-inf") if wanted["min_score"] is None else wanted["min_score"]
        under = float("inf") if wanted["max_score"] is None else wanted["max_score"]
        rules.append(RowRule(f"span_replacement.{place}", partial(_judge, found, fill, (least, under))))
    return rules


def _judge(found: Found, fill: Fill, scores: tuple[float, float], row: Row) -> Verdict:
    least, under = scores
    spans = [(start, end) for start, end, score in found(row) if least <= score < under]
    if not spans:
        return None
    text = fill(row)
    return Replace([Replacement(start, end, text) for start, end in spans])


def _beside(key: str, row: Row) -> Sequence[Sequence[Any]]:
    return row.attributes.get(key, ())


def _selected(expression: str, syntax: Any, where: str) -> Found:
    """Returns what finds the spans of a row by an expression, each value of which is a list of spans, or null."""
    select = compiled(expression, syntax, f"{where}.span")

    def found(row: Row) -> list[Sequence[Any]]:
        return [span for value in select(merged(row)) if value is not None for span in _spans(value)]

    return found


def _spans(value: Any) -> Iterator[Sequence[Any]]:
    for span in value if isinstance(value, list | tuple) else [value]:
        whole = isinstance(span, list | tuple) and len(span) == 3 and all(type(place) is int for place in span[:2])
        if not whole or isinstance(span[2], bool) or not isinstance(span[2], int | float):
            raise SpanError(f"selected {str(span)[:80]}; valid: [start, end, score]")
        yield span


def _filled(text: str, where: str, *, compat: str | None) -> Fill:
    """Returns what gives the text that comes in the stead of a row's spans."""
    if not _is_computed(text) and not (compat == "dolma" and text.startswith(_COMPUTED)):
        plain = text[1:] if text.startswith(_ESCAPED) else text
        return lambda _: plain
    compute = compiled(text[1:], "jq", f"{where}.replacement")

    def fill(row: Row) -> str:
        return _one_string(compute(merged(row)), text)

    return fill


def _one_string(values: list[Any], expression: str) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    raise SpanError(f"{expression} gives {str(values)[:80]}; valid: one string")
