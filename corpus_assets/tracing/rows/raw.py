"""The result of a row of a raw file: the number of its document, or why there is none."""

from collections.abc import Iterator, Mapping
from itertools import islice, takewhile
from time import monotonic
from typing import NamedTuple

import numpy as np

from corpus_assets.filter.assets import READ
from corpus_assets.normalize.reading import all_rows as all_documents
from corpus_assets.normalize.reading import normalizer_of
from corpus_assets.raw.assets import all_rows as all_examples
from corpus_assets.raw.bad_rows import GAPS
from corpus_assets.raw.losses import BAD_FILE, NOT_SAMPLED
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.sampling import Chosen
from corpus_assets.raw.takedown import REASON
from corpus_assets.takedown.assets import lists_of
from corpus_assets.takedown.keys import keys_of
from corpus_assets.takedown.lists import all_keys, entries
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Step
from corpus_assets.tracing.tables import is_stream, rows_in
from resources.errors import ConfigError, CorpusError
from resources.formats.documents import Document
from resources.formats.examples import Example
from resources.shards.listing import Shard
from resources.stage.partition import Partition

_SECONDS = 10.0
"""Seconds for reading a raw file again up to a row; after that, all reasons in the record are given instead."""

Row = Document | Example | BadRow


class _Reason(NamedTuple):
    """Why a row gave no document: the recorded word, what was found there, and which line of a list names it."""

    word: str
    detail: str = ""
    listed: str = ""


def number_of(made: Partition, row: int) -> int | None:
    """Returns the number of the document or example that was made of a row of a raw file; None if there is none.

    Raises `ConfigError` for a row that the file does not have.
    """
    rows = rows_in(made)
    gaps = made.array(GAPS).astype(np.int64) if made.has(GAPS) else np.empty(0, np.int64)
    whole_file = BAD_FILE in made.record.statistics.get("dropped", {})
    if not 0 <= row < rows + len(gaps) and not whole_file:
        raise ConfigError(f"row {row}: valid in {made.name}: 0 to {rows + len(gaps) - 1}")
    place = int(np.searchsorted(gaps, row))
    return None if whole_file or (place < len(gaps) and gaps[place] == row) else row - place


def lost_row(look: Look, made: Partition, row: int) -> Step:
    """Returns the step at which a row of a raw file gave no document or example."""
    found = _read_again(look, made, row) or _of_record(made)
    unit = "document" if made.record.asset == READ or is_stream(made) else "example"
    words = f"no {unit} was made of this row: {_in_words(found)}"
    details = {key: value for key, value in zip(("found", "list"), (found.detail, found.listed), strict=True) if value}
    state = look.state(made.record.asset, made.key)
    return Step(made.record.asset, made.key, "dropped", words, found.word, stale=state, details=details)


def _in_words(found: _Reason) -> str:
    if found.word == NOT_SAMPLED:
        return "this corpus is a sample, and the row is not in it"
    if found.word == REASON:
        return "it was taken down" + (f", as {found.listed} says" if found.listed else "")
    return found.word.replace("_", " ") + (f" ({found.detail})" if found.detail else "")


def _of_record(made: Partition) -> _Reason:
    """Returns the reason that a record gives for all rows without a document, or all reasons that it gives."""
    statistics = made.record.statistics
    dropped: Mapping[str, int] = statistics.get("dropped", {})
    if len(dropped) == 1:
        (word,) = dropped
        examples = statistics.get("dropped_examples", [])
        return _Reason(word, examples[0] if word == BAD_FILE and examples else "")
    counted = ", ".join(f"{count:,} as {word}" for word, count in dropped.items())
    return _Reason(" or ".join(dropped), f"the record counts {counted}; the raw file was not read again")


def _read_again(look: Look, made: Partition, row: int) -> _Reason | None:
    """Returns why a row gave no document, by reading the raw file again; None if it changed, or takes too long."""
    shard = look.planner.shard(made.key)
    if shard is None or BAD_FILE in made.record.statistics.get("dropped", {}):
        return None
    prefix = "source" if made.record.asset == READ else f"datasets.{shard.source}.input"
    chosen = Chosen.of(made.record.parameters, prefix)
    if chosen is not None and not chosen.rows(shard)(row):
        return _Reason(NOT_SAMPLED)
    until, dropped = monotonic() + _SECONDS, made.record.statistics.get("dropped", {})
    try:
        soon = takewhile(lambda _: monotonic() < until, _rows(made, shard))
        found = next(islice(soon, row, None), None)
    except (CorpusError, KeyError):  # the file is gone or another, or other code made the record
        return None
    if isinstance(found, BadRow):
        return _Reason(found.reason, f"{found.where}: {found.detail}") if found.reason in dropped else None
    return None if found is None or REASON not in dropped else _Reason(REASON, "", _listed(look, made, found))


def row_at(look: Look, made: Partition, where: str) -> int | None:
    """Returns the number of the bad row that messages name by its place in a raw file, such as `a.jsonl line 7`.

    None if there is none, if the file changed, or if reading it up to there takes too long.
    """
    shard = look.planner.shard(made.key)
    if shard is None or not sum(made.record.statistics.get("dropped", {}).values()):
        return None
    until = monotonic() + _SECONDS
    try:
        for number, row in enumerate(takewhile(lambda _: monotonic() < until, _rows(made, shard))):
            if isinstance(row, BadRow) and row.where == where:
                return number
    except (CorpusError, KeyError):  # the file is gone or another, or other code made the record
        return None
    return None


def _rows(made: Partition, shard: Shard) -> Iterator[Row]:
    if made.record.asset == READ:
        yield from all_documents(shard, made.record.parameters)
    else:
        yield from all_examples(shard, made.record.parameters)


def _listed(look: Look, made: Partition, row: Document | Example) -> str:
    """Returns which line of which list names a row; empty if the lists no longer do."""
    settings = look.corpus.settings.values
    if not settings["remove"]:
        return ""
    text = row.text or ""
    document = row if isinstance(row, Document) else Document(row.id, text, row.source, metadata=row.metadata)
    texts = [text] if text else []
    if isinstance(row, Document):
        texts.append(normalizer_of(made.record.parameters)(text))
    keys = set(keys_of(document, texts, settings["remove"]["url_keys"]))
    named = all_keys(entry for entry in entries(lists_of(settings), None) if keys.intersection(entry.keys))
    return next((entry.where for entry in named.values()), "")
