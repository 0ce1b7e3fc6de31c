"""The files of one partition of a dataset of texts: rows written, and rows dropped, by reason."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.config.naming import MESSAGE_KEY, METADATA_KEY, names_given
from corpus_assets.export.format import TOTALS
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.texts.files import write_rows
from corpus_assets.export.texts.refused import RefusedError
from corpus_assets.export.texts.rows import Row, Rows
from corpus_assets.export.token_stream import BY_SOURCE
from corpus_assets.tokenize.counts.discarded import of_example
from resources.documents.looked_for import LookedFor, numbers_of
from resources.formats.examples import Example, decode_example, keys_beside
from resources.stage.partition import Partition
from resources.stage.task import Task

UNREAD: Final = "unread_keys"
"""Statistic: keys of examples that no column and no option reads, with how many examples have each."""
_MOST_KEYS = 100
_SIDES = ("messages", "prompt", "completion", "chosen", "rejected")


def write_texts(task: Task, dataset: TextDataset) -> None:
    """Writes the rows of a partition, and counts all that come in, as exports of ids do, without ids."""
    given = task.input(dataset.rows_from)
    counted = _Counted(task, dataset)
    rows_out = write_rows(task, dataset.path(task.key), dataset.section, counted.rows(given))
    dropped = task.dropped()
    text_bytes = counted.text_bytes.total()
    lost = {reason: {"documents": dropped[reason], "ids": 0} for reason in sorted(dropped)}
    totals = {"documents": counted.rows_in, "units": rows_out, "text_bytes": text_bytes, "dropped": lost}
    task.save_counters(TOTALS, totals)
    sources = sorted(counted.documents)
    by_source = {
        name: {"documents": counted.documents[name], "text_bytes": counted.text_bytes[name]} for name in sources
    }
    task.save_counters(BY_SOURCE, by_source)
    task.count(rows_in=counted.rows_in, rows_out=rows_out, text_bytes=text_bytes, **counted.found())


class _Counted:
    """Makes the rows of a partition one after another, and counts them."""

    def __init__(self, task: Task, dataset: TextDataset) -> None:
        self._task = task
        self._maker = Rows(dataset.section)
        self._read = dataset.keys_read
        self._notes_unread = dataset.shard_set is not None
        given = partial(names_given, TextExport, dataset.values, f"datasets.{dataset.name}")
        self._looked_for = LookedFor("rows", given(METADATA_KEY))
        self._in_messages = LookedFor("messages", given(MESSAGE_KEY))
        self._unread = Counter[str]()
        self.rows_in = 0
        self.documents, self.text_bytes = Counter[str](), Counter[str]()

    def rows(self, given: Partition) -> Iterator[Row]:
        """Yields the rows of a partition."""
        for line in given.lines():
            self.rows_in += 1
            example = decode_example(line)
            self._look(example)
            try:
                row = self._maker.row(example)
            except RefusedError as error:
                words = of_example(example, str(error))
                self._task.drop(error.reason, example=f"{error.reason}: {words}", shown=words)
                continue
            self.documents[row.source] += 1
            self.text_bytes[row.source] += row.size
            yield row

    def _look(self, example: Example) -> None:
        if self._in_messages.wants_any:
            for message in (one for side in _SIDES for one in _messages(getattr(example, side))):
                self._in_messages.add(message)
        if not self._notes_unread and not self._looked_for.wants_any:
            return
        keys = keys_beside(example)
        if self._looked_for.wants_any:
            self._looked_for.add(keys)
        if self._notes_unread:
            room = len(self._unread) < _MOST_KEYS
            self._unread.update(key for key in keys if key not in self._read and (room or key in self._unread))

    def found(self) -> dict[str, object]:
        """Returns the statistics of the keys of rows."""
        unread = {UNREAD: dict(sorted(self._unread.items()))} if self._unread else {}
        return {**numbers_of(self._looked_for, self._in_messages), **unread}


def _messages(side: Any) -> list[dict[str, Any]]:
    """Returns the messages of one side of an example; none if it is a text."""
    return side if isinstance(side, list) else []
