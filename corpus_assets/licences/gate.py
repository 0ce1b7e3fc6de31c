"""`licences.allow`: the row rule that holds back documents whose licence is not allowed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from corpus_assets.licences.documents import NONE, Licences, names_of
from corpus_assets.licences.names import folded
from corpus_assets.licences.terms import Allowed
from resources.documents.looked_for import LookedFor
from resources.documents.row_rule import Drop, Row, RowRule, RuleSet, Verdict
from resources.errors import ConfigError
from resources.stage.task import Task

REASON = "licence"
ALLOW, WITHOUT = "licences.allow", "licences.without"
Judge = Callable[[Row], Verdict]
OF_SOURCE = ("source.licence", "source.licence_key")


def licence_rules(section: Mapping[str, Any] | None) -> list[RuleSet]:
    """Returns the set of rules for `licences.allow`; none without it."""
    if not section or section["allow"] is None:
        return []
    return [RuleSet("licences", _made, parameters=(ALLOW, WITHOUT, *OF_SOURCE), drops=(REASON,))]


def _made(task: Task) -> list[RowRule]:
    licences = Licences(task["source.licence"], task["source.licence_key"])
    judge = only_allowed(licences, Allowed(task[ALLOW]), without=task[WITHOUT])
    if (key := task["source.licence_key"]) is None:
        return [RowRule(REASON, judge)]
    counts = LookedFor("documents", {f"sources.{task.shard.source}.licence_key": [key]})
    return [RowRule(REASON, partial(_counted, judge, licences, key, counts), looked_for=(counts,))]


def _counted(judge: Judge, licences: Licences, key: str, counts: LookedFor, row: Row) -> Verdict:
    metadata = row.document.metadata
    has = licences.of_metadata(metadata) != NONE
    counts.add(names_of(metadata) if counts.needs_names else (), [key] if has else [])
    return judge(row)


def only_allowed(licences: Licences, allowed: Allowed, *, without: str) -> Callable[[Row], Verdict]:
    """Returns the rule that drops a document whose licence is not allowed.

    without: `keep` or `drop` for documents without a stated licence.
    """
    known: dict[str, Verdict] = {}

    def verdict(licence: str) -> Verdict:
        if licence == NONE:
            return None if without == "keep" else Drop("no licence stated")
        return None if licence in allowed else Drop(licence)

    def judge(row: Row) -> Verdict:
        licence = licences.of_all or licences.of_metadata(row.document.metadata)
        if licence not in known:
            known.clear() if len(known) > _MOST_KNOWN else None
            known[licence] = verdict(licence)
        return known[licence]

    return judge


_MOST_KNOWN = 10_000


def require_allowed(section: Mapping[str, Any] | None, datasets: Sequence[Mapping[str, Any]]) -> None:
    """Raises `ConfigError` for a dataset's own files with a licence that is not allowed, which no rule sees."""
    if not section or section["allow"] is None:
        return
    allowed = Allowed(section["allow"])
    for dataset in datasets:
        files = dataset["input"]
        if isinstance(files, Mapping):
            licence = folded(files.get("licence") or "")
            if licence not in allowed if licence else section["without"] == "drop":
                raise ConfigError(
                    f"datasets.{dataset['name']}.input.licence: received {licence or 'none'!r}; allowed by "
                    f"licences.allow: {', '.join(section['allow'])}"
                )
