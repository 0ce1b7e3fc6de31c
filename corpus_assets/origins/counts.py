"""Exact counts by source, domain and host in bounded memory: sorted runs in scratch files, merged."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, NamedTuple

import msgspec

from resources.spill import Spill

_BYTES = 512
"""Memory of one entry, with its key."""

_AT_ONCE = 128
"""Runs that are merged at once, each of which is an open file."""


class Row(NamedTuple):
    """What documents of one host have together. host: empty for documents without a URL."""

    source: str
    domain: str
    host: str
    documents: int
    text_bytes: int
    tokens: int


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Row)
Key = tuple[str, str, str]


class Counts:
    """Counts of documents by source, domain and host. memory: bytes; more keys than fit are sorted in scratch files."""

    def __init__(self, memory: int, spill: Spill) -> None:
        self._most = max(memory // _BYTES, 1)
        self._spill = spill
        self._held: dict[Key, list[int]] = {}
        self._runs: list[Iterable[bytes]] = []

    def add(self, key: Key, text_bytes: int, tokens: int) -> None:
        """Counts a document. key: source, domain, host."""
        found = self._held.get(key)
        if found is None:
            if len(self._held) == self._most:
                self._runs.append(_written(self._sorted(), self._spill))
                self._held.clear()
            found = self._held[key] = [0, 0, 0]
        found[0] += 1
        found[1] += text_bytes
        found[2] += tokens

    def _sorted(self) -> Iterator[Row]:
        return (Row(*key, *numbers) for key, numbers in sorted(self._held.items()))

    def rows(self) -> Iterator[Row]:
        """Yields the sums of each key, in the order of keys."""
        return merged([*self._runs, map(line_of, self._sorted())], self._spill)


def line_of(row: Row) -> bytes:
    """Returns a row as a line, newline included."""
    return _ENCODER.encode(row) + b"\n"


def merged(runs: Sequence[Iterable[bytes]], spill: Spill) -> Iterator[Row]:
    """Yields the sums of rows with equal keys in all runs, in the order of keys; each run is in that order."""
    while len(runs) > _AT_ONCE:
        groups = (runs[start : start + _AT_ONCE] for start in range(0, len(runs), _AT_ONCE))
        runs = [_written(_summed(group), spill) for group in groups]
    yield from _summed(runs)


def _written(rows: Iterable[Row], spill: Spill) -> Iterable[bytes]:
    file = spill()
    file.writelines(map(line_of, rows))
    file.seek(0)
    return file


def _summed(runs: Sequence[Iterable[bytes]]) -> Iterator[Row]:
    last: Row | None = None
    for row in merge(*(map(_DECODER.decode, run) for run in runs), key=_key):
        if last is not None and _key(last) == _key(row):
            last = Row(*_key(row), *(one + other for one, other in zip(last[3:], row[3:], strict=True)))
            continue
        if last is not None:
            yield last
        last = row
    if last is not None:
        yield last


def _key(row: Row) -> Key:
    return row.source, row.domain, row.host


class Largest:
    """The names with the largest numbers, of any number of names. most: how many are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[str, Sequence[int]] = {}
        self.different = 0

    def add(self, name: str, numbers: Sequence[int]) -> None:
        """Notes a name, each once. numbers: documents, bytes of text, tokens."""
        self.different += 1
        self._held[name] = numbers
        if len(self._held) > 4 * self._most:
            kept = {*self._order(0), *self._order(1), *self._order(2)}
            self._held = {name: self._held[name] for name in self._held if name in kept}

    def top(self, measure: int) -> list[list[Any]]:
        """Returns the first names by a number, each with all of its numbers; equal ones in the order of names."""
        return [[name, *self._held[name]] for name in self._order(measure)]

    def _order(self, measure: int) -> list[str]:
        return sorted(self._held, key=lambda name: (-self._held[name][measure], name))[: self._most]
