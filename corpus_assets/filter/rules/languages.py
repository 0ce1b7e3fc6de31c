"""Rules `languages`: ranges that differ by the label that a tagger gives a document, such as its language."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from corpus_assets.filter.rules.entries import source_of
from corpus_assets.filter.rules.ranges import within
from corpus_assets.filter.rules.section import RuleSection, SectionHooks
from resources.documents.attribute_rows import best_label
from resources.documents.looked_for import LookedFor
from resources.documents.row_rule import Drop, Row, RowRule, RuleSet, Verdict
from resources.errors import each
from resources.stage.task import Task

NAME, OTHER, SCORE = "languages", "languages.other", "score"
Thresholds = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Ranges by label and key: `score`, or `ENTRY.TAGGER.TYPE`."""
Label = Callable[[Row], str | None]


def languages(section: RuleSection) -> RuleSet:
    """Returns the rules of a section's `languages`; `ConfigError` for one that names no attribute."""
    given = section["languages"]
    thresholds: Thresholds = given["thresholds"]
    where = f"{section.where}.{NAME}"
    keys = [(label, key) for label, ranges in thresholds.items() for key in ranges if key != SCORE]
    asked = [(f"{given['by']}.{next(iter(thresholds))}", f"{where}.by")]
    asked += [(key, f"{where}.thresholds.{label}.{key}") for label, key in keys]
    labels, *more = each(partial(source_of, key, section.entries, place) for key, place in asked)
    sources = {key: source for (_, key), source in zip(keys, more, strict=True)}
    assets = dict.fromkeys([labels.asset, *(source.asset for source in sources.values())])
    prefix = labels.key.removesuffix(next(iter(thresholds)))
    made = partial(
        _made, prefix=prefix, thresholds=thresholds, keys={key: one.key for key, one in sources.items()}, where=where
    )
    drops = (*([OTHER] if given["other"] == "drop" else []), *_rules_of(thresholds))
    return RuleSet(
        NAME,
        partial(made, other=given["other"]),
        attributes=tuple(assets),
        hooks=SectionHooks(section, (NAME,)),
        drops=drops,
    )


def _rules_of(thresholds: Thresholds) -> dict[str, str]:
    """Returns the name of the rule of each key, and the key."""
    return {f"{NAME}.{key}": key for ranges in thresholds.values() for key in ranges}


def _made(
    _: Task, prefix: str, thresholds: Thresholds, keys: Mapping[str, str], where: str, other: str
) -> Sequence[RowRule]:
    label = partial(_label, prefix=prefix)
    counts = LookedFor("labels", {f"{where}.thresholds": list(thresholds)})
    rules = [RowRule(OTHER, partial(_other, label, thresholds, counts, drop=other == "drop"), looked_for=(counts,))]
    for name, key in _rules_of(thresholds).items():
        tests = {
            one: within(prefix + one if key == SCORE else keys[key], **ranges[key])
            for one, ranges in thresholds.items()
            if key in ranges
        }
        rules.append(RowRule(name, partial(_outside, label, tests)))
    return rules


def _label(row: Row, prefix: str) -> str | None:
    return best_label(row.attributes, prefix)


def _other(label: Label, thresholds: Thresholds, counts: LookedFor, row: Row, *, drop: bool) -> Verdict:
    found = label(row)
    counts.add([found] if found else [])
    return Drop(f"{found or 'no label'} has no thresholds") if drop and found not in thresholds else None


def _outside(label: Label, tests: Mapping[str, Callable[[Row], Verdict]], row: Row) -> Verdict:
    found = label(row)
    verdict = tests[found](row) if found and found in tests else None
    return Drop(f"{found}: {verdict.found}") if isinstance(verdict, Drop) else verdict
