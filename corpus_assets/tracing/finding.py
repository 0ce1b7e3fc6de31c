"""Finds documents by id, by the digest of their text, by source, or by a piece of their text."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.takedown import Remove
from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.takedown.keys import plain_url, urls_of
from corpus_assets.tracing.kept_rows import number_before_filter
from corpus_assets.tracing.likely import likely_rows
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.origins import read_by
from corpus_assets.tracing.tables import (
    IDS,
    NAMED,
    TEXTS,
    count_of,
    id_at,
    id_in_stream,
    is_stream,
    lines_from,
    numbers_of_id,
    rows_in,
    rows_of_digest,
    rows_of_id,
    rows_that_hold,
)
from resources.errors import ConfigError
from resources.formats.documents import decode_document
from resources.formats.examples import decode_example, example_texts
from resources.formats.texts import document_texts
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition

_LINES = 256
"""Rows between two checks of the clock."""

_WORD = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Sought:
    """The criteria of a search; a document must meet all given ones.

    id: of a document or example.
    digest: SHA-256 of a normalized or filtered text, 32 bytes.
    piece: of a normalized text.
    source: a source, or a dataset with files of its own.
    id_piece: of an id; id_start: how one begins.
    url: in the metadata of a document, by a key of `remove.url_keys`; scheme, fragment and a slash at its end do not
        count.
    """

    id: str | None = None
    digest: bytes | None = None
    piece: str | None = None
    source: str | None = None
    id_piece: str | None = None
    id_start: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Found:
    """A document or example that was found: its source and id, the key of its shard, and its number there, from 0."""

    source: str
    id: str
    shard: str
    number: int


@dataclass(frozen=True)
class Results:
    """The results of a search.

    looked_at: rows that it examined; total: rows of all files to examine. cursor: where another search continues; None
    if everything was examined.
    """

    found: list[Found]
    looked_at: int
    total: int
    cursor: str | None


class _Place(NamedTuple):
    """A shard, and its first row that has not been examined."""

    shard: int
    row: int


def find_documents(
    look: Look, sought: Sought, *, limit: int = 20, seconds: float = 5.0, cursor: str | None = None
) -> Results:
    """Returns documents, in the order of shards and rows.

    limit: most documents. seconds: time after which it stops at the next row or shard; at least one is examined.
    cursor: of the results before these. Ids and digests are found in the tables beside documents, at more than ten
    million a second; pieces of texts, and examples of datasets' own files, by reading them. Raises `ConfigError` for an
    unknown source, and for an invalid cursor.
    """
    shards = _shards(look, sought.source)
    sizes = [_rows(made) for made in shards]
    first = _from_cursor(cursor, shards)
    until, found, looked_at = monotonic() + seconds, list[Found](), 0
    for number in range(first.shard, len(shards)):
        begin = first.row if number == first.shard else 0
        for row, hit in _in_shard(look, shards[number], sought, begin):
            if hit is not None:
                found.append(hit)
            if len(found) == limit or monotonic() > until:
                at_end = row + 1 >= sizes[number]
                left = _Place(number + 1, 0) if at_end else _Place(number, row + 1)
                looked_at += min(row + 1, sizes[number]) - begin
                return Results(found, looked_at, sum(sizes), _as_cursor(left, shards))
        looked_at += sizes[number] - begin
        if monotonic() > until:
            return Results(found, looked_at, sum(sizes), _as_cursor(_Place(number + 1, 0), shards))
    return Results(found, looked_at, sum(sizes), None)


def _shards(look: Look, source: str | None) -> list[Partition]:
    """Returns the documents of all sources, then the examples of datasets' own files; of one source if it is given."""
    settings = look.corpus.settings
    own = [entry["name"] for entry in settings.inputs()]
    known = [*settings.sources(), *own]
    if source is not None and source not in known:
        raise ConfigError(f"no source named {source!r}{did_you_mean(source, known)}; there are {', '.join(known)}")
    found = [made for made in look.partitions(READ) if source is None or _source(made) == source]
    for name in own:
        found += look.partitions(read_by(look.corpus, name)) if source in (None, name) else []
    return found


def _source(made: Partition) -> str:
    return (made.key or "").partition("--")[0]


def _rows(made: Partition) -> int:
    return rows_in(made)


def _in_shard(look: Look, made: Partition, sought: Sought, first: int) -> Iterator[tuple[int, Found | None]]:
    """Yields the matching rows of a shard, and other rows from time to time so that the clock can be checked."""
    if is_stream(made):
        return _given(made, sought, first)
    if made.record.asset != READ:
        return _examples(made, sought, first)
    if sought.url is not None:
        return _by_url(look, made, sought.url, first)
    if sought.piece is not None:
        return _by_piece(look, made, sought, first)
    return ((row, _named(made, row)) for row in sorted(_by_tables(look, made, sought)) if row >= first)


def _named(made: Partition, row: int) -> Found:
    return Found(_source(made), id_at(made, row), made.key or "", row)


def _by_tables(look: Look, made: Partition, sought: Sought) -> Iterator[int] | range | set[int]:
    """Returns the rows with the given id and digest."""
    if sought.id is None and sought.digest is None and sought.id_piece is None and sought.id_start is None:
        return range(count_of(made))
    rows: list[set[int]] = []
    if sought.id_start is not None:
        encoded = sought.id_start.encode("utf-8", "surrogatepass")
        likely = rows_that_hold(made.array(TEXTS)["id_end"], made.array(IDS), encoded)
        rows.append({row for row in likely if id_at(made, row).startswith(sought.id_start)})
    for wanted, search in ((sought.id, rows_of_id), (sought.id_piece, rows_that_hold)):
        if wanted is not None:
            encoded = wanted.encode("utf-8", "surrogatepass")
            rows.append(set(search(made.array(TEXTS)["id_end"], made.array(IDS), encoded)))
    if sought.digest is not None:
        rows.append(_of_digest(look, made, sought.digest))
    return set.intersection(*rows)


def _of_digest(look: Look, made: Partition, digest: bytes) -> set[int]:
    found = set(rows_of_digest(made.array(TEXTS)["digest"], digest))
    filtered = look.partition(FILTERED, made.key) if look.has(FILTERED) else None
    if filtered is not None and filtered.record.segments != made.record.segments:
        for row in rows_of_digest(filtered.array(TEXTS)["digest"], digest):
            found.add(number_before_filter(look, made.key or "", row))
    return {row for row in found if row < count_of(made)}


def _by_piece(look: Look, made: Partition, sought: Sought, first: int) -> Iterator[tuple[int, Found | None]]:
    """Yields the rows whose text holds a piece, and the last one of each block of texts."""
    assert sought.piece is not None
    piece = sought.piece.encode("utf-8", "surrogatepass")
    tables_too = sought.id is not None or sought.digest is not None or sought.id_piece is not None
    known = set(_by_tables(look, made, sought)) if tables_too else None
    likely = likely_rows(look, made, piece)
    stored = _as_stored(sought.piece)
    for start, block in _blocks(made, first, likely):
        if stored not in block:
            yield start + block.count(b"\n") - 1, None
            continue
        texts = document_texts(block)
        bounds, last = texts.bounds.tolist(), -1
        characters = texts.characters.tobytes()
        place = characters.find(piece)
        while place >= 0:
            row = bisect_right(bounds, place) - 1
            if row != last and place + len(piece) <= bounds[row + 1]:
                last = row
                if start + row >= first and (known is None or start + row in known):
                    yield start + row, _named(made, start + row)
                place = bounds[row + 1] - 1
            place = characters.find(piece, place + 1)
        yield start + len(bounds) - 2, None


def _as_stored(piece: str) -> bytes:
    """Returns a piece of a text as lines have it, in which each character has one spelling."""
    try:
        return msgspec.json.encode(piece)[1:-1]
    except UnicodeEncodeError:  # A half of a pair, which no text has.
        return b"\n"


def url_keys(look: Look) -> list[str]:
    """Returns the keys of the metadata that hold a document's URL."""
    removed = look.corpus.settings.values["remove"]
    return list(removed["url_keys"] if removed else Remove.model_fields["url_keys"].get_default())


def _by_url(look: Look, made: Partition, url: str, first: int) -> Iterator[tuple[int, Found | None]]:
    """Yields the rows whose metadata has a URL, and the last one of each block of lines.

    Only lines with the longest plain word of the URL are decoded.
    """
    wanted, keys = plain_url(url), url_keys(look)
    word = max(_WORD.findall(wanted.partition("/")[2]), key=len, default="").encode()
    for start, block in _blocks(made, first):
        lines = block.splitlines(keepends=True)
        for row, line in enumerate(lines, start):
            if row >= first and word in line and wanted in urls_of(decode_document(line), keys):
                yield row, _named(made, row)
        yield start + len(lines) - 1, None


def _blocks(made: Partition, first: int, likely: NDArray[np.bool_] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yields the lines of documents in blocks, each with the row of its first line.

    Those before `first` may be left out, and those that are not likely.
    """
    if not made.has(".members.npy"):
        held, start = list[bytes](), first
        for line in lines_from(made, first):
            held.append(line)
            if len(held) == _LINES:
                yield start, b"".join(held)
                held, start = [], start + _LINES
        if held:
            yield start, b"".join(held)
        return
    chosen = np.arange(_rows(made)) >= first
    if likely is not None:
        chosen &= likely
    rows = made.array(".members.npy")["rows"]
    starts = np.cumsum(rows, dtype=np.int64) - rows
    holding = np.unique(np.searchsorted(starts, np.flatnonzero(chosen), side="right") - 1)
    for number, (member, _) in zip(holding.tolist(), made.members(chosen), strict=True):
        yield int(starts[number]), member.content


def _examples(made: Partition, sought: Sought, first: int) -> Iterator[tuple[int, Found | None]]:
    """Yields the examples of a file that are found; they have no tables, so that all lines are read."""
    if sought.digest is not None or sought.url is not None:
        return
    begins = b'{"id":' + (b"" if sought.id is None else msgspec.json.encode(sought.id) + b",")
    for row, line in enumerate(lines_from(made, first), first):
        if not line.startswith(begins):
            if not row % _LINES:
                yield row, None
            continue
        identifier = NAMED.decode(line).id
        held = (sought.id is None or identifier == sought.id) and (sought.id_piece or "") in identifier
        held = held and identifier.startswith(sought.id_start or "")
        if held and (sought.piece is None or any(sought.piece in text for text in example_texts(decode_example(line)))):
            yield row, Found(_source(made), identifier, made.key or "", row)
        elif not row % _LINES:
            yield row, None


def _given(made: Partition, sought: Sought, first: int) -> Iterator[tuple[int, Found | None]]:
    """Yields the documents of a file of ids that are found; they have no text, and nothing else but their ids."""
    if sought.digest is not None or sought.url is not None or sought.piece is not None:
        return
    wanted = (sought.id, True), (sought.id_piece, False), (sought.id_start, False)
    found = [set(numbers_of_id(made, one, whole=whole)) for one, whole in wanted if one is not None]
    for number in sorted(set.intersection(*found)) if found else range(rows_in(made)):
        identifier = id_in_stream(made, number)
        if number >= first and identifier.startswith(sought.id_start or ""):
            yield number, Found(_source(made), identifier, made.key or "", number)


def _as_cursor(place: _Place, shards: list[Partition]) -> str | None:
    if place.shard >= len(shards):
        return None
    return f"{shards[place.shard].name}:{place.row}"


def _from_cursor(cursor: str | None, shards: list[Partition]) -> _Place:
    if cursor is None:
        return _Place(0, 0)
    name, _, row = cursor.rpartition(":")
    known = [made.name for made in shards]
    if name not in known or not row.isdecimal():
        raise ConfigError(f"cursor {cursor!r} is none of this search; valid: that of the results before, or none")
    return _Place(known.index(name), int(row))
