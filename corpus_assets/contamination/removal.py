"""`on_contamination`: the row rule that removes documents, or spans of them, from the corpus."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.contamination.contamination_attributes import ATTRIBUTE
from resources.documents.row_rule import Attributes, Drop, Replace, Replacement, Row, RowRule, RuleSet, Verdict
from resources.formats.attributes import Span
from resources.stage.task import Task

ACTION, SHARE = "on_contamination", "contamination.share"
_PREFIX, _SHARE, _ITEM = f"{ATTRIBUTE}__", "__share", "__item"


def contamination_rules(action: str) -> list[RuleSet]:
    """Returns the set of rules for an action; none for `report`."""
    if action == "report":
        return []
    drops = (ATTRIBUTE,) if action == "remove_document" else ()
    read = (f"{ATTRIBUTE}_attributes",)
    return [RuleSet(ATTRIBUTE, _made, attributes=read, parameters=(ACTION, SHARE), drops=drops)]


def _made(task: Task) -> list[RowRule]:
    judges: Mapping[str, Callable[[float], Callable[[Row], Verdict]]] = {
        "remove_document": without_documents,
        "remove_span": without_spans,
    }
    return [RowRule(ATTRIBUTE, judges[task[ACTION]](task[SHARE]))]


def without_documents(share: float) -> Callable[[Row], Verdict]:
    """Returns the rule that drops a document that holds this share of an item, or more."""

    def judge(row: Row) -> Verdict:
        held = list(_held(row.attributes, share))
        if not held:
            return None
        benchmark, (_, _, largest), number = max(held, key=lambda found: found[1][2])
        return Drop(f"{largest:.2f} of item {number:.0f} of {benchmark}")

    return judge


def without_spans(share: float) -> Callable[[Row], Verdict]:
    """Returns the rule that removes the spans of the items of which a document holds this share, or more."""

    def judge(row: Row) -> Verdict:
        spans = dict.fromkeys((start, end) for _, (start, end, _), _ in _held(row.attributes, share))
        return Replace([Replacement(start, end) for start, end in sorted(spans)]) if spans else None

    return judge


def _held(attributes: Attributes, share: float) -> Iterator[tuple[str, Span, float]]:
    """Yields benchmark, span and item for each span of the items of which a document holds at least a share."""
    for key, numbers in attributes.items():
        if key.startswith(_PREFIX) and key.endswith(_ITEM):
            name = key.removeprefix(_PREFIX).removesuffix(_ITEM)
            for span, (_, _, number) in zip(_shares(attributes, name), numbers, strict=True):
                if span[2] >= share:
                    yield name, span, number


def _shares(attributes: Mapping[str, Any], name: str) -> Sequence[Span]:
    found: Sequence[Span] = attributes[f"{_PREFIX}{name}{_SHARE}"]
    return found
