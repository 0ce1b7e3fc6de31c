"""Rules about documents themselves: texts that are too short, and fields that are left out."""

from resources.row_rule import Discard, Drop, Row, RowRule, RuleSet, Verdict
from resources.stage.task import Task

MIN_TEXT_LENGTH = "filter.min_text_length"
DISCARD_FIELDS = "filter.discard_fields"
COMPAT = "filter.compat"
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Code points that Unicode calls white space; Python strips four more."""


def long_enough() -> RuleSet:
    """Returns the rule that drops texts that are too short, as all replacements leave them."""
    return RuleSet("min_text_length", _long_enough, parameters=(MIN_TEXT_LENGTH, COMPAT))


def _long_enough(task: Task) -> list[RowRule]:
    least, dolma = task[MIN_TEXT_LENGTH], task[COMPAT] == "dolma"

    def judge(row: Row) -> Verdict:
        text = row.document.text
        length = len(text.strip(_WHITE_SPACE).encode()) if dolma else len(text.strip())
        return Drop(f"{length} {'bytes' if dolma else 'code points'}") if length < least else None

    return [RowRule("min_text_length", judge, last=True)]


def discarded_fields() -> RuleSet:
    """Returns the rule that leaves out optional fields of documents."""
    return RuleSet("discard_fields", _discarded_fields, parameters=(DISCARD_FIELDS,))


def _discarded_fields(task: Task) -> list[RowRule]:
    fields = task[DISCARD_FIELDS]

    def judge(row: Row) -> Verdict:
        held = [name for name in fields if getattr(row.document, name)]
        return Discard(held) if held else None

    return [RowRule("discard_fields", judge)]
