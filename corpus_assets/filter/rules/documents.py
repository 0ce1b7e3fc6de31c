"""Rules about documents themselves: texts that are too short, and fields to remove."""

from collections.abc import Sequence
from functools import partial

from corpus_assets.filter.rules.section import RuleSection, SectionHooks
from resources.documents.row_rule import Discard, Drop, Row, RowRule, RuleSet, Verdict
from resources.stage.task import Task

SHORTEST = "min_text_length"
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""The code points that are white space in Unicode; Python strips four more."""


def long_enough(section: RuleSection) -> RuleSet:
    """Returns the rule `min_text_length`, which drops texts that are too short after all replacements."""
    made = partial(_long_enough, least=section["min_text_length"], dolma=section["compat"] == "dolma")
    return RuleSet(SHORTEST, made, hooks=SectionHooks(section, ("min_text_length", "compat")), drops=(SHORTEST,))


def _long_enough(_: Task, least: int, dolma: bool) -> list[RowRule]:
    def judge(row: Row) -> Verdict:
        text = row.document.text
        length = len(text.strip(_WHITE_SPACE).encode()) if dolma else len(text.strip())
        return Drop(f"{length} {'bytes' if dolma else 'code points'}") if length < least else None

    return [RowRule(SHORTEST, judge, last=True)]


def discarded_fields(section: RuleSection) -> RuleSet:
    """Returns the rule `discard_fields`, which removes optional fields of documents."""
    made = partial(_discarded_fields, fields=section["discard_fields"])
    return RuleSet("discard_fields", made, hooks=SectionHooks(section, ("discard_fields",)))


def _discarded_fields(_: Task, fields: Sequence[str]) -> list[RowRule]:
    def judge(row: Row) -> Verdict:
        held = [name for name in fields if getattr(row.document, name)]
        return Discard(held) if held else None

    return [RowRule("discard_fields", judge)]
