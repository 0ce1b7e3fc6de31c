"""Rules `span_replacement`: replace pieces of the text that attributes mark."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from typing_extensions import override

from corpus_assets.config.selection.presets import is_of_preset
from corpus_assets.filter.rules.entries import assets_named_in, source_of
from corpus_assets.filter.rules.expressions import Syntax, closed, comparisons, compiled, is_dolma, merged
from corpus_assets.filter.rules.names import NamesRead
from corpus_assets.filter.rules.section import RuleSection, SectionHooks
from corpus_assets.filter.spans import replaced_as_dolma
from resources.documents.looked_for import LookedFor
from resources.documents.row_rule import Replace, Replacement, Row, RowRule, RuleSet, Verdict
from resources.errors import CorpusError
from resources.stage.hooks import Values
from resources.stage.task import Task

_COMPUTED, _ESCAPED = "$", "$$"
Fill = Callable[[Row], str]
Found = Callable[[Row], Sequence[Sequence[Any]]]


class SpanError(CorpusError):
    """An expression selected something that is no list of spans."""


def replacements(section: RuleSection) -> RuleSet:
    """Returns the rules of a section's `span_replacement`; `ConfigError` for one that names no attribute."""
    keys: list[str | None] = []
    assets: list[str] = []
    where = f"{section.where}.span_replacement"
    for place, wanted in enumerate(section["span_replacement"]):
        expressions = [wanted["replacement"]] if _is_computed(wanted["replacement"]) else []
        if wanted["syntax"] == "attribute":
            source = source_of(wanted["span"], section.entries, f"{where}.{place}.span")
            keys.append(source.key)
            assets.append(source.asset)
        else:
            keys.append(None)
            expressions.append(wanted["span"])
        assets += assets_named_in(expressions, section["attributes"], section.entries, section.where)
    dolma = is_dolma(section)
    return RuleSet(
        "span_replacement",
        partial(_made, wanted=section["span_replacement"], keys=tuple(keys), where=where, dolma=dolma),
        attributes=tuple(dict.fromkeys(assets)),
        hooks=ReplacementsHooks(section, ("span_replacement", "compat")),
        replaced=replaced_as_dolma if dolma else None,
    )


class ReplacementsHooks(SectionHooks):
    """The hooks of the filter for these rules."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        section, wanted = self.section, self.section["span_replacement"]
        paths = [one["span"] for one in wanted if one["syntax"] == "jsonpath"]
        programs = [one["span"] for one in wanted if one["syntax"] == "jq"]
        programs += [one["replacement"] for one in wanted if _is_computed(one["replacement"])]
        given = super().derived_parameters(settings)
        return {**given, **comparisons(section, paths), **closed(section, programs)}

    @override
    def check_before(self, settings: Values) -> None:
        """Raises `ConfigError` for an expression that cannot be read."""
        for place, one in enumerate(self.section["span_replacement"]):
            where = f"{self.section.where}.span_replacement.{place}"
            if one["syntax"] != "attribute":
                compiled(one["span"], one["syntax"], f"{where}.span")
            if _is_computed(one["replacement"]):
                compiled(one["replacement"][1:], "jq", f"{where}.replacement")


def _is_computed(text: str) -> bool:
    return text.startswith(_COMPUTED) and not text.startswith(_ESCAPED)


def _made(_: Task, wanted: Sequence[Values], keys: Sequence[str | None], where: str, dolma: bool) -> list[RowRule]:
    rules = []
    for place, (one, key) in enumerate(zip(wanted, keys, strict=True)):
        found = _selected(one, f"{where}.{place}", dolma=dolma) if key is None else partial(_beside, key)
        names = NamesRead(_computed(one, f"{where}.{place}"))
        fill = _filled(one["replacement"], f"{where}.{place}", names, dolma=dolma)
        least = float("-inf") if one["min_score"] is None else one["min_score"]
        under = float("inf") if one["max_score"] is None else one["max_score"]
        wanted_spans = {} if is_of_preset(one["span"]) else {f"{where}.{place}.span": [one["span"]]}
        counts = LookedFor("documents", wanted_spans)
        judge = partial(_judge, found, fill, (least, under), counts)
        rules.append(RowRule(f"span_replacement.{place}", judge, looked_for=(names.counts, counts)))
    return rules


def _computed(one: Values, where: str) -> dict[str, tuple[str, Syntax]]:
    """Returns the expression that computes the replacement, by its place; nothing for a fixed text."""
    text = one["replacement"]
    return {f"{where}.replacement": (text[1:], "jq")} if _is_computed(text) else {}


def _judge(found: Found, fill: Fill, scores: tuple[float, float], counts: LookedFor, row: Row) -> Verdict:
    least, under = scores
    selected = found(row)
    if counts.wants_any:
        counts.add(row.attributes, [counts.only] if selected else [])
    spans = [(start, end) for start, end, score in selected if least <= score < under]
    if not spans:
        return None
    text = fill(row)
    return Replace([Replacement(start, end, text) for start, end in spans])


def _beside(key: str, row: Row) -> Sequence[Sequence[Any]]:
    return row.attributes.get(key, ())


def _selected(one: Values, where: str, *, dolma: bool) -> Found:
    """Returns what finds the spans of a row by an expression; values are spans, lists of them, or null."""
    select = compiled(one["span"], one["syntax"], f"{where}.span", dolma=dolma)

    def found(row: Row) -> list[Sequence[Any]]:
        return [span for value in select(merged(row)) if value is not None for span in _spans(value)]

    return found


def _spans(value: Any) -> Iterator[Sequence[Any]]:
    for span in value if isinstance(value, list | tuple) and not _is_span(value) else [value]:
        if not _is_span(span):
            raise SpanError(f"selected {str(span)[:80]}; valid: [start, end, score]")
        yield span


def _is_span(value: Any) -> bool:
    whole = isinstance(value, list | tuple) and len(value) == 3 and all(type(place) is int for place in value[:2])
    return whole and isinstance(value[2], int | float) and not isinstance(value[2], bool)


def _filled(text: str, where: str, names: NamesRead, *, dolma: bool) -> Fill:
    """Returns a function that gives the replacement for a row's spans, and counts the names that it reads."""
    if not _is_computed(text) and not (dolma and text.startswith(_COMPUTED)):
        plain = text[1:] if text.startswith(_ESCAPED) else text
        return lambda _: plain
    compute = compiled(text[1:], "jq", f"{where}.replacement")

    def fill(row: Row) -> str:
        document = merged(row)
        names.add(document)
        return _one_string(compute(document), text)

    return fill


def _one_string(values: list[Any], expression: str) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    raise SpanError(f"{expression} gives {str(values)[:80]}; valid: one string")
