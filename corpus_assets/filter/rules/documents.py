"""Rules about documents themselves: texts that are too short, and fields that are left out."""

from resources.row_rule import Discard, Drop, Row, RowRule, RuleSet, Verdict
from resources.stage.task import Task

MIN_TEXT_LENGTH = "filter.min_text_length"
DISCARD_FIELDS = "filter.discard_fields"


def long_enough() -> RuleSet:
    """Returns the rule that drops texts that are too short, as all replacements leave them."""
    return RuleSet("min_text_length", _long_enough, parameters=(MIN_TEXT_LENGTH,))


def _long_enough(task: Task) -> list[RowRule]:
    least = task[MIN_TEXT_LENGTH]

    def judge(row: Row) -> Verdict:
        length = len(row.document.text.strip())
        return Drop(f"{length} code points") if length < least else None

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
