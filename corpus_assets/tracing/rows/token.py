"""Finds the token files and rows that hold a document."""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.export.token_stream import DOCUMENTS
from corpus_assets.takedown.passages import SHORTEST, Ids, Passages
from corpus_assets.tokenize.datasets import Dataset
from corpus_assets.tracing.kept_rows import not_built
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.rows.exported import (
    MOST_ROWS,
    exported,
    number_in_stream,
    stream_step,
    streams_of,
)
from corpus_assets.tracing.rows.mixed import ROWS, Used
from corpus_assets.tracing.step import Step
from corpus_assets.tracing.tables import ids_at, line_at, text_at
from corpus_assets.tracing.texts.steps import texts_of, written
from corpus_assets.tracing.token_files import Group, OtherTokenizerError, TokenFile, groups_of_rows
from resources.formats.examples import decode_example, example_texts
from resources.formats.hdf5.reader import HDF5
from resources.formats.jsonl.compressions import JSONL
from resources.stage.partition import Partition

_LONG = 64
"""Fewest ids of a passage that counts as the document's anywhere; a shorter one counts only at its beginning or end."""


class _Sought(NamedTuple):
    """A document that is looked for in rows of HDF5. key: of its split or file; copy as in `Step`.

    ids: its ids, if they were given; None if they are those of the texts.
    """

    texts: Sequence[str]
    key: str
    copy: int | None
    until: float
    ids: Sequence[Ids] | None = None


def of_split(look: Look, step: Step, use: Used, until: float) -> Iterator[Step]:
    """Yields a step for each token stream and dataset that reads a split. step: of the split, which has the document.

    until: when a search of HDF5 files ends, by the monotonic clock.
    """
    made = look.partition(step.stage, use.chunk)
    if made is None or step.row is None:
        return
    for asset in streams_of(look, step.stage):
        stream = look.partition(asset, use.chunk)
        if stream is None:
            yield not_built(look, asset, use.chunk, use.copy)
            continue
        named = (use.source, use.id, use.copy)
        same = _same(made, use)
        number = number_in_stream(stream, named, step.row, int(same[: step.row].sum()))
        if number is None:
            yield _not_in_stream(look, stream, use.copy, is_sure=int(same.sum()) == 1)
            continue
        yield stream_step(look, stream, number, use.copy)
        yield from exported(look, asset, stream, number, use.copy)
    for texts in texts_of(look, step.stage):
        taken = _taken(look, texts.name, use) if texts.values["weights"] else None
        if taken is not None:
            yield taken
        if taken is None or taken.status == "here":
            numbers = [step.row] if taken is None else taken.details["rows"]
            yield written(look, texts, use.chunk, numbers, use.copy)
    for dataset in _in_hdf5(look, step.stage):
        weighted = bool(dataset.values.get("weights"))
        taken = _taken(look, dataset.name, use) if weighted else None
        if taken is not None:
            yield taken
        if taken is None or taken.status == "here":
            sought = _Sought([text_at(made, step.row)], use.chunk, use.copy, until)
            yield _search(look, dataset, sought)


def of_example(look: Look, made: Partition, number: int, until: float) -> Iterator[Step]:
    """Yields a step for each token stream and dataset made of a dataset's own file. number: of the example."""
    key = made.key or ""
    for asset in streams_of(look, made.record.asset):
        stream = look.partition(asset, key)
        if stream is None:
            yield not_built(look, asset, key)
            continue
        found = np.flatnonzero(stream.array(DOCUMENTS)["row"] == number)
        if not len(found):
            yield _not_in_stream(look, stream, None, is_sure=True)
            continue
        yield stream_step(look, stream, int(found[0]), None)
        yield from exported(look, asset, stream, int(found[0]), None)
    for written_to in texts_of(look, made.record.asset):
        yield written(look, written_to, key, [number])
    for dataset in _in_hdf5(look, made.record.asset):
        texts = example_texts(decode_example(line_at(made, number)))
        yield _search(look, dataset, _Sought(texts, key, None, until))


def of_given(look: Look, stream: Partition, number: int, until: float) -> Iterator[Step]:
    """Yields a step for a token stream of given ids and for each dataset made of it. number: of the document in it."""
    yield stream_step(look, stream, number, None)
    yield from exported(look, stream.record.asset, stream, number, None)
    for dataset in _in_hdf5(look, stream.record.asset):
        yield _search(look, dataset, _Sought([], stream.key or "", None, until, [ids_at(stream, number)]))


def _same(made: Partition, use: Used) -> NDArray[np.bool_]:
    """Returns which rows (n,) of a split are the same use of a document of the same id."""
    table = made.array(ROWS)
    same = (table["order"] == np.uint64(use.order)) & (table["copy"] == use.copy)
    return np.asarray(same & (table["source"] == use.source.encode()))


def _not_in_stream(look: Look, stream: Partition, copy: int | None, *, is_sure: bool) -> Step:
    """Returns the step of a stream without the document. is_sure: no other document is named as this one is."""
    asset = stream.record.asset
    dropped = stream.record.statistics.get("dropped", {})
    stale = look.state(asset, stream.key)
    # A stream that is up to date has left the document out; for which of several reasons its record does not say.
    if len(dropped) == 1 or (dropped and is_sure and not stale):
        words = f"it is left out: {' or '.join(reason.replace('_', ' ') for reason in dropped)}"
        reason = next(iter(dropped)) if len(dropped) == 1 else None
        return Step(asset, stream.key, "dropped", words, reason, copy=copy, stale=stale)
    return Step(asset, stream.key, "unknown", "it was made of other documents", copy=copy, stale=stale)


def _in_hdf5(look: Look, rows_from: str) -> Iterator[Dataset]:
    """Yields the datasets in HDF5 that are made of an asset."""
    for entry in look.corpus.settings.values["datasets"]:
        dataset = Dataset(entry["name"], entry)
        if not is_export(entry) and not is_text(entry) and rows_from in (dataset.rows_from, entry["input"]):
            yield dataset


def _taken(look: Look, dataset: str, use: Used) -> Step:
    """Returns the step of the weights of a dataset in HDF5, or of texts: how often they take the document."""
    asset = names.documents(dataset)
    made = look.partition(asset, use.chunk)
    if made is None:
        return not_built(look, asset, use.chunk, use.copy)
    table, stale = made.array(ROWS), look.state(asset, use.chunk)
    likely = np.flatnonzero(table["order"] == np.uint64(use.order))
    same = [row for row in likely.tolist() if table[row]["digest"].tobytes() == use.digest]
    if not same:
        words = "the weights of the dataset do not take it"
        return Step(asset, use.chunk, "dropped", words, "not_in_mixture", copy=use.copy, stale=stale)
    words = f"the weights of the dataset take it {len(same)} times" if len(same) > 1 else "the weights take it once"
    file = made.file(JSONL).path
    return Step(asset, use.chunk, "here", words, None, same[0], file, use.copy, stale, {"rows": same[:MOST_ROWS]})


def _search(look: Look, dataset: Dataset, sought: _Sought) -> Step:
    """Returns the step of a dataset in HDF5, whose rows are found by the ids of the text."""
    asset = names.tokens(dataset.name)
    over_all = dataset.shuffled or dataset.carries_over
    key = None if over_all else sought.key
    made = look.partitions(asset) if over_all else [one for one in [look.partition(asset, key)] if one is not None]
    if not made:
        return not_built(look, asset, key, sought.copy)
    stale = next((words for one in made if (words := look.state(asset, one.key))), "")
    files = [TokenFile(one.record, file) for one in made for file in one.record.files if HDF5.suffix in file.path]
    found = _Found()
    for group in groups_of_rows(look.corpus, dataset, files):
        found.look(group, sought)
    return Step(
        asset,
        key,
        "here" if found.runs else "unknown",
        found.words(),
        None,
        *found.first(),
        sought.copy,
        stale,
        found.details(),
    )


class _Found:
    """Rows of HDF5 files that hold ids of a document.

    searched: how many rows were looked at. covered: which of the text's ids were found, for each text.
    """

    def __init__(self) -> None:
        self.runs: dict[str, set[int]] = {}
        self._searched = 0
        self._fault = ""
        self._shares: list[float] = []

    def look(self, group: Group, sought: _Sought) -> None:
        """Adds the rows of some files."""
        if group.encode is None and sought.ids is None:
            self._fault = "the tokenizer of its ids is not in the store"
            return
        if monotonic() >= sought.until:
            self._fault = "it was not searched for"
            return
        encode, ids = group.encode, sought.ids
        if ids is None:
            ids = [one for text in sought.texts for one in encode([text])] if encode else []
        ids = [one for one in ids if len(one) >= SHORTEST]
        if not ids:
            self._fault = f"its text has fewer than {SHORTEST} tokens, too few to search for"
            return
        passages, covered = Passages(ids), [np.zeros(len(one), np.bool_) for one in ids]
        for one in group.files:
            try:
                self._look_into(one, group, passages, (ids, covered), sought.until)
            except OtherTokenizerError:
                self._fault = "the tokenizer of its ids is not in the store"
        self._shares += [float(marks.mean()) for marks in covered]

    def _look_into(
        self, one: TokenFile, group: Group, passages: Passages, wanted: tuple[Sequence[Ids], list[Any]], until: float
    ) -> None:
        ids, covered = wanted
        for first, block in group.read(one):
            if monotonic() >= until:
                self._fault = "the search ran out of time"
                return
            self._searched += len(block)
            for found in passages.find(block):
                size, end = len(ids[found.text]), found.place + found.length
                if found.length >= min(_LONG, size) or found.place <= 1 or end >= size - 1:
                    self.runs.setdefault(one.file.path, set()).add(first + found.row)
                    covered[found.text][found.place : end] = True

    def words(self) -> str:
        """Returns what was found in a sentence."""
        if not self.runs:
            searched = f" in {self._searched:,} rows" if self._searched else ""
            return f"HDF5 does not record whose rows are whose; {self._fault or 'its text was not found'}{searched}"
        file, rows = next(iter(sorted(self.runs.items())))
        shown = ", ".join(f"{row:,}" for row in sorted(rows)[:3]) + (" ..." if len(rows) > 3 else "")
        more = f", and in {len(self.runs) - 1} more files" if len(self.runs) > 1 else ""
        fault = f"; {self._fault}" if self._fault else ""
        share = min(self._shares, default=0.0)
        return f"in row{'s' * (len(rows) > 1)} {shown} of {file}{more}, by a search for its tokens ({share:.0%}){fault}"

    def first(self) -> tuple[int | None, str | None]:
        """Returns the first row, and its file."""
        if not self.runs:
            return None, None
        file, rows = next(iter(sorted(self.runs.items())))
        return min(rows), file

    def details(self) -> dict[str, Any]:
        """Returns the rows, and how much of the text they hold."""
        listed = [{"file": file, "rows": sorted(rows)[:MOST_ROWS]} for file, rows in sorted(self.runs.items())]
        found: dict[str, Any] = {"rows": listed[:MOST_ROWS], "searched_rows": self._searched, "format": "hdf5"}
        if self._shares:
            found["found_share"] = round(min(self._shares), 4)
        return {**found, "fault": self._fault} if self._fault else found
