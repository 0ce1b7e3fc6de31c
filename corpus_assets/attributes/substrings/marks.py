"""The asset `<name>_attributes` of an entry with `kind: substrings`: the repeated spans of each document."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.asked import answers_of, documents_with, undecided
from corpus_assets.attributes.substrings.by_range import said_of
from corpus_assets.attributes.substrings.listed import Listed
from corpus_assets.attributes.substrings.rule import says_type
from corpus_assets.attributes.substrings.units import in_code_points
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.formats.documents import decode_document
from resources.formats.row_tables import identifiers
from resources.stage.task import Task

_BLOCK = 1 << 14
BOILERPLATE = "boilerplate"
"""Statistic: the most frequent boilerplate of which the shard has the first copy."""

Columns = NDArray[np.int64]


class _Document(msgspec.Struct):
    """The identity of a document."""

    id: str
    source: str


class _Spans(NamedTuple):
    """Spans of one document under one key (n, 3): first unit, one past its last, and a value."""

    row: int
    spans: Columns


def marks(task: Task, rule: Substrings) -> None:
    """Writes a row for each document with the spans of its repeated substrings, and those of boilerplate."""
    documents = task.input("normalized_documents")
    table = documents.array(".texts.npy")
    keys = [rule.key] if rule.boilerplate is None else [rule.key, rule.boilerplate_key]
    per_key = [_of_documents(task, rule, key) for key in keys]
    chosen = np.zeros(len(table), dtype=np.bool_)
    for found in per_key:
        for one in found():
            chosen[one.row] = True
    lines, waiting = documents.chosen_lines(chosen), [_Waiting(found()) for found in per_key]
    listed, spans, characters, flagged, boilerplate = Listed(), 0, 0, 0, 0
    ids = identifiers(table["id_end"], documents.array(".ids.npy"))
    with task.attributes(rule.name) as out:
        for row, identifier in enumerate(ids):
            attributes: dict[str, list[tuple[int, int, float]]] = {}
            flag = False
            if chosen[row]:
                text = decode_document(next(lines)).text
                raw = text.encode("utf-8", "surrogatepass")
                for key, of_key in zip(keys, waiting, strict=True):
                    units = of_key.of(row)
                    places = in_code_points(raw, units[:, :2], rule.unit, whole_words=rule.borders == "words")
                    if len(places):
                        attributes[key] = [(start, end, 1.0) for start, end in places.tolist()]
                    if key == rule.boilerplate_key:
                        listed.add(raw, identifier, units, rule.unit)
                        boilerplate += len(places)
                marked = sum(end - start for start, end, _ in attributes.get(rule.key, ()))
                flag = marked > 0 and marked >= rule.flag_share * len(text)
                spans += len(attributes.get(rule.key, ()))
                characters += marked
            flagged += flag
            out.add(_Document(identifier, task.shard.source), attributes, flagged=flag)
    task.count(rows_in=out.rows, rows_out=out.rows, spans=spans, characters=characters, flagged=flagged)
    if rule.boilerplate is not None:
        task.count(boilerplate_spans=boilerplate, **{BOILERPLATE: listed.rows()})


class _Waiting:
    """Spans of documents in the order of rows, asked for row by row."""

    def __init__(self, found: Iterator[_Spans]) -> None:
        self._found = found
        self._next = next(found, None)

    def of(self, row: int) -> Columns:
        """Returns the spans of a document; none if it has no such spans."""
        if self._next is None or self._next.row != row:
            return np.empty((0, 3), dtype=np.int64)
        spans = self._next.spans
        self._next = next(self._found, None)
        return spans


def _of_documents(task: Task, rule: Substrings, key: str) -> Any:
    """Returns a function that yields the spans of all documents that have some under a key."""
    passages, dtype = task.input(f"{rule.name}_passages"), says_type(rule)
    compared = task.input(f"{rule.name}_windows")
    says = said_of(passages, task.inputs(f"{rule.name}_repeated_passages"), dtype)
    says_of_windows = said_of(compared, task.inputs(f"{rule.name}_repeated_windows"), dtype)
    of_windows = answers_of(compared, says_of_windows)[key == rule.boilerplate_key]

    def found() -> Iterator[_Spans]:
        from corpus_assets.attributes.substrings.kernels.covering import cover

        counts, runs, answers = (passages.array(f".{name}.npy") for name in ("counts", "runs", "answers"))
        ends = np.cumsum(counts, dtype=np.int64)
        offset = 0
        for first, last in _cuts(ends):
            start, stop = int(ends[first - 1]) if first else 0, int(ends[last - 1])
            part, of = runs[start:stop], answers[start:stop]
            said = says[of["number"]]
            begin, asked, one_by_one = undecided(part, of, said, rule)
            values = np.ones(len(part), dtype=np.int64)
            if key == rule.boilerplate_key:
                values = documents_with(said, of["is_first"])
                begin, asked = np.zeros_like(begin), one_by_one
            offsets = np.where(one_by_one > 0, offset + np.cumsum(one_by_one) - one_by_one, -1)
            offset += int(one_by_one.sum())
            sizes = part["windows"].astype(np.int64) * part["repeats"]
            of_texts = counts[first:last].astype(np.int64)
            table = np.stack([sizes, begin, asked, offsets, values], axis=1)
            spans, numbers = cover(of_texts, table, of_windows, rule.length)
            bounds = np.concatenate([[0], np.cumsum(numbers)])
            for place in np.flatnonzero(numbers).tolist():
                yield _Spans(first + place, spans[bounds[place] : bounds[place + 1]])

    return found


def _cuts(ends: Columns) -> Iterator[tuple[int, int]]:
    """Yields ranges of documents with about so many passages together, at least one document each."""
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _BLOCK, side="right")), first + 1)
        yield first, last
        first = last
