"""The asset `filtered_documents`: the documents of a shard that row rules keep, with their changes."""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from corpus_assets.filter.judging import Judged, RuleError, Rules
from corpus_assets.filter.losses import TALLIES
from corpus_assets.filter.rows import Block, blocks
from corpus_assets.filter.spans import replaced
from corpus_assets.normalize.text_table import TextRow, TextTable, row_of
from resources.documents.row_rule import Row, RuleSet
from resources.errors import BadFileError
from resources.formats.documents import encode_document
from resources.formats.jsonl.lines import DocumentWriter, LineWriter
from resources.formats.row_tables import LENGTHS, TEXT, digests
from resources.stage.counts import dropped_row
from resources.stage.partition import Partition
from resources.stage.task import Task

CHANGES = ".changes.jsonl"
"""Suffix of the derived file with a row for each document that a rule dropped or changed."""

_EXAMPLES = 3


class Change(msgspec.Struct, omit_defaults=True):
    """A document that was dropped or changed.

    row: of the normalized document, from 0.
    dropped: the rule that dropped it.
    found: what that rule found.
    changed: the rules that changed it, with the number of pieces of text or fields that each replaced or removed.
    """

    id: str
    row: int
    dropped: str | None = None
    found: str | None = None
    changed: dict[str, int] | None = None


_ENCODER = msgspec.json.Encoder()


def filtered_documents(task: Task, sets: Sequence[RuleSet]) -> None:
    """Writes the kept documents, a row for each dropped or changed one, and the tables beside documents."""
    documents = task.input("normalized_documents")
    attributes = [task.input(name) for name in attributes_of(sets)]
    rules = rules_of(task, sets)
    path = f"filtered/{task.shard.source}/{task.shard.name}"
    with (
        task.array(f"{path}.lengths.npy", LENGTHS, derived=True) as lengths,
        task.array(f"{path}.ids.npy", np.uint8) as ids,
        task.array(f"{path}.texts.npy", TEXT) as texts,
        task.documents(f"{path}.jsonl") as kept,
        task.lines(f"{path}{CHANGES}", derived=True) as changes,
    ):
        table = TextTable(texts, ids, lengths)
        shard = _Shard(task, rules, _known_rows(documents), (kept, table, changes))
        for block in blocks(documents, attributes):
            shard.take(block)
        table.flush()
    task.segments |= table.segments()
    rows_in = documents.file(".texts.npy").rows
    task.count(rows_in=rows_in, rows_out=kept.written.rows, text_bytes=table.text_bytes, **shard.statistics())
    task.count(lengths=table.lengths)


def rules_of(task: Task, sets: Sequence[RuleSet]) -> Rules:
    """Returns the rules of sets, in order, for the shard of a task."""
    ways = [chosen.replaced for chosen in sets if chosen.replaced]
    return Rules([rule for chosen in sets for rule in chosen.make(task)], ways[-1] if ways else replaced)


def attributes_of(sets: Sequence[RuleSet]) -> list[str]:
    """Returns the assets whose attributes the rules read, each once."""
    return list(dict.fromkeys(name for chosen in sets for name in chosen.attributes))


class _Shard:
    """Applies rules to the rows of a shard and writes the results."""

    def __init__(
        self,
        task: Task,
        rules: Rules,
        known: Iterator[TextRow],
        out: tuple[DocumentWriter, TextTable, LineWriter],
    ) -> None:
        self._task = task
        self._rules = rules
        self._known = known
        self._documents, self._table, self._changes = out
        self._changed = 0
        self._by_rule: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def take(self, block: Block) -> None:
        """Applies the rules to a block; if no row changes, its stored member is copied."""
        judged = [self._judged(row) for row in block.rows]
        whole = block.member if all(one.dropped is None and one.document is None for one in judged) else None
        if whole:
            self._documents.copy(whole)
        for row, one in zip(block.rows, judged, strict=True):
            known = next(self._known)
            if one.dropped is None:
                self._table.add(row_of(one.document) if one.document else known)
                if not whole:
                    self._documents.write(encode_document(one.document) if one.document else row.line)
            if one.dropped or one.document:
                self._note(row, one)

    def statistics(self) -> dict[str, object]:
        """Returns the number of changed documents, what each rule removed, and ids of some that each dropped."""
        found: dict[str, object] = {
            "changed": self._changed,
            "changed_by_rule": self._by_rule,
            "examples": self._examples,
            TALLIES: self._rules.tallies(),
            **self._rules.looked_for(),
        }
        return {name: value for name, value in found.items() if value}

    def _judged(self, row: Row) -> Judged:
        try:
            return self._rules.judge(row)
        except RuleError as error:
            where = f"{self._task.shard.label} (document {row.number}, id {row.document.id!r})"
            raise BadFileError(where, str(error)) from error

    def _note(self, row: Row, one: Judged) -> None:
        rule, found = one.dropped or (None, None)
        change = Change(row.document.id, row.number, rule, found, one.changed)
        self._changes.write(_ENCODER.encode(change) + b"\n")
        if rule is not None:
            examples = self._examples.setdefault(rule, [])
            example = f"{self._task.shard.source}/{row.document.id}: {rule}: {found}"
            place = f"{self._task.shard.label} document {row.number}"
            shown = (
                dropped_row(place, row.document.id, row.document.text, found or "") if self._task.shows(rule) else None
            )
            self._task.drop(rule, example=example if len(examples) < _EXAMPLES else None, shown=shown)
            if len(examples) < _EXAMPLES:
                examples.append(row.document.id)
            return
        self._changed += 1
        for name, count in (one.changed or {}).items():
            self._by_rule[name] = self._by_rule.get(name, 0) + count


def _known_rows(documents: Partition) -> Iterator[TextRow]:
    """Yields the rows of the tables beside normalized documents."""
    texts = documents.array(".texts.npy")
    sizes, created, ends = (texts[name].tolist() for name in ("bytes", "created", "id_end"))
    ids = documents.array(".ids.npy").tobytes()
    lengths = map(tuple, documents.array(".lengths.npy").tolist())
    start = 0
    for row in zip(sizes, digests(texts), created, ends, lengths, strict=True):
        size, digest, date, end, measured = row
        yield TextRow(size, digest, date, ids[start:end], measured)
        start = end
