"""Applies row rules to documents."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from corpus_assets.filter.spans import replaced
from resources.documents.looked_for import numbers_of
from resources.documents.row_rule import Discard, Drop, Replace, Replacement, Row, RowRule, Verdict
from resources.errors import CorpusError
from resources.formats.documents import NO_METADATA, Document

Replaced = Callable[[str, Sequence[Replacement]], str]
"""Returns a text with pieces replaced."""

_NOTHING = {"added": None, "created": None, "metadata": NO_METADATA}


class RuleError(CorpusError):
    """A rule failed at a document."""


class Judged(NamedTuple):
    """The result for a document.

    dropped: the rule that drops it, and what that rule found; None if it stays.
    document: the changed document; None if it is unchanged or dropped.
    changed: rules that changed it, with the number of pieces or fields that each replaced or removed.
    """

    dropped: tuple[str, str] | None = None
    document: Document | None = None
    changed: dict[str, int] | None = None


_AS_IT_IS = Judged()


class Rules:
    """The rules of one shard, in order; a dropped document counts for the first rule that drops it.

    replaced: replaces pieces of texts.
    """

    def __init__(self, rules: Sequence[RowRule], replaced: Replaced = replaced) -> None:
        self._replaced = replaced
        self._rules = [(rule.name, rule.judge) for rule in rules if not rule.last]
        self._last = [rule for rule in rules if rule.last]
        self._tallies = {rule.name: rule.tally for rule in rules if rule.tally}
        self._looked_for = [counts for rule in rules for counts in rule.looked_for]

    def looked_for(self) -> dict[str, Any]:
        """Returns the statistic of the names that rules look for."""
        return numbers_of(*self._looked_for)

    def tallies(self) -> dict[str, list[int]]:
        """Returns for each measuring rule how many documents it saw, and in how many it found something."""
        return {name: [tally.asked, tally.found] for name, tally in self._tallies.items()}

    def judge(self, row: Row) -> Judged:
        """Returns the result for a document; `RuleError` names the rule that failed."""
        changes: _Changes | None = None
        for name, judge in self._rules:
            try:
                said = judge(row)
            except Exception as error:
                raise _failed(name, error) from error
            if said is None:
                continue
            if isinstance(said, Drop):
                return Judged(dropped=(name, said.found))
            changes = changes or _Changes()
            changes.add(name, said)
        document = None if changes is None else changes.made(row.document, self._replaced)
        left = row if document is None else Row(row.number, b"", {}, document)
        for rule in self._last:
            if (found := _last_word(rule, left)) is not None:
                return Judged(dropped=(rule.name, found))
        return Judged(document=document, changed=changes.counts) if changes and document else _AS_IT_IS


def _last_word(rule: RowRule, row: Row) -> str | None:
    """Returns what the last rule found, if it drops the document."""
    try:
        said = rule.judge(row)
    except Exception as error:
        raise _failed(rule.name, error) from error
    if said is None:
        return None
    if not isinstance(said, Drop):
        raise RuleError(f"rule {rule.name}: it comes last and can only drop documents; it said {said}")
    return said.found


def _failed(rule: str, error: Exception) -> RuleError:
    words = str(error) if isinstance(error, CorpusError) else f"{type(error).__name__}: {error}"
    return RuleError(f"rule {rule}: {words}")


class _Changes:
    """The changes of all rules in one document."""

    def __init__(self) -> None:
        self._pieces: list[Replacement] = []
        self._fields: dict[str, Any] = {}
        self.counts: dict[str, int] = {}

    def add(self, rule: str, said: Verdict) -> None:
        """Notes a change by a rule."""
        if isinstance(said, Replace):
            if wrong := next((piece for piece in said.spans if not 0 <= piece[0] <= piece[1]), None):
                raise RuleError(f"rule {rule}: span {wrong[0]} to {wrong[1]}; valid: 0 <= start <= end")
            self._pieces += said.spans
            self.counts[rule] = len(said.spans)
        elif isinstance(said, Discard):
            self._fields |= {name: _NOTHING[name] for name in said.fields}
            self.counts[rule] = len(said.fields)
        else:
            raise RuleError(f"rule {rule}: said {said!r}; valid: Drop, Replace, Discard or None")

    def made(self, document: Document, replaced: Replaced) -> Document | None:
        """Returns the changed document; None if nothing changed."""
        text = replaced(document.text, self._pieces) if self._pieces else document.text
        changed = msgspec.structs.replace(document, text=text, **self._fields)
        return None if changed == document else changed
