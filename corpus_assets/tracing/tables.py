"""Single stored rows: ids, digests, lines and flags of one document, without reading those of others."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from resources.formats.attributes import FLAG_TABLES, AttributeRow, attribute_rows
from resources.formats.jsonl.compressions import JSONL
from resources.formats.token_streams import DATA, DOCUMENTS, LENGTHS
from resources.stage.partition import Partition

IDS, TEXTS = ".ids.npy", ".texts.npy"

_IDS_WINDOW = 1 << 22

_WINDOW = 1 << 24
_FALSE_FINDS = 256
"""Number of matches within longer ids after which all ids of that length are compared instead."""


class Named(msgspec.Struct):
    """What identifies a stored line."""

    id: str
    source: str


NAMED = msgspec.json.Decoder(Named)


class Line(msgspec.Struct):
    """A stored document without its metadata."""

    id: str
    source: str
    text: str


LINE = msgspec.json.Decoder(Line)


def rows_of_id(ends: NDArray[Any], characters: NDArray[np.uint8], wanted: bytes) -> Iterator[int]:
    """Yields the rows that have an id, in order.

    ends: (n,) where each id ends in `characters`, as in a table of documents. Ids are found by their bytes, so nothing
    is decoded; memory is that of a window of them.
    """
    false_finds = 0
    for place in _finds(characters, wanted):
        row = _row_at(ends, place)
        if (int(ends[row - 1]) if row else 0) == place and int(ends[row]) == place + len(wanted):
            yield row
        else:
            false_finds += 1
            if false_finds == _FALSE_FINDS:
                yield from _rows_of_length(ends, characters, wanted, row + 1)
                return


def rows_that_hold(ends: NDArray[Any], characters: NDArray[np.uint8], piece: bytes) -> Iterator[int]:
    """Yields the rows whose id holds a piece, in order."""
    last = -1
    for place in _finds(characters, piece):
        row = _row_at(ends, place)
        if row != last and place + len(piece) <= int(ends[row]):
            last = row
            yield row


def _finds(characters: NDArray[np.uint8], wanted: bytes) -> Iterator[int]:
    """Yields where some bytes begin."""
    for start in range(0, len(characters), _WINDOW):
        window = characters[start : start + _WINDOW + len(wanted) - 1].tobytes()
        place = window.find(wanted)
        while place >= 0:
            if place < _WINDOW:
                yield start + place
            place = window.find(wanted, place + 1)


def _row_at(ends: NDArray[Any], place: int) -> int:
    """Returns the row in whose id a byte lies."""
    # Not numpy's search: it would copy the whole column of a table that is mapped.
    return bisect_left(range(len(ends)), place + 1, key=lambda row: int(ends[row]))


def _rows_of_length(ends: NDArray[Any], characters: NDArray[np.uint8], wanted: bytes, first: int) -> Iterator[int]:
    """Yields the rows from `first` on that have an id, by comparing those of its length."""
    step, size, sought = 1 << 20, len(wanted), np.frombuffer(wanted, np.uint8)
    for start in range(first, len(ends), step):
        stops = ends[start : start + step].astype(np.int64)
        begins = np.concatenate([[int(ends[start - 1]) if start else 0], stops[:-1]])
        rows = np.flatnonzero(stops - begins == size)
        for number in range(size):
            rows = rows[characters[begins[rows] + number] == sought[number]]
        yield from (start + rows).tolist()


def rows_of_digest(digests: NDArray[np.uint8], wanted: bytes) -> Iterator[int]:
    """Yields the rows (n, 32) that are a digest, in order."""
    sought, step = np.frombuffer(wanted, np.uint8), 1 << 18
    for start in range(0, len(digests), step):
        block = digests[start : start + step]
        likely = np.flatnonzero(block[:, 0] == sought[0])
        yield from (start + likely[(block[likely] == sought).all(axis=1)]).tolist()


def id_at(documents: Partition, row: int) -> str:
    """Returns the id of a row of documents."""
    before = int(documents.array_rows(TEXTS, row - 1, row)["id_end"][0]) if row else 0
    end = int(documents.array_rows(TEXTS, row, row + 1)["id_end"][0])
    return documents.array_rows(IDS, before, end).tobytes().decode("utf-8", "surrogatepass")


def count_of(documents: Partition) -> int:
    """Returns how many documents a partition has."""
    return documents.file(TEXTS).rows or 0


def line_at(partition: Partition, row: int) -> bytes:
    """Returns one line of a partition's file of rows."""
    chosen = np.zeros(partition.file(JSONL).rows or 0, np.bool_)
    chosen[row] = True
    (line,) = partition.chosen_lines(chosen)
    return line


def text_at(documents: Partition, row: int) -> str:
    """Returns the text of one document."""
    return LINE.decode(line_at(documents, row)).text


def attribute_at(attribute: Partition, row: int) -> AttributeRow:
    """Returns the row of attributes of one document."""
    (found,) = attribute_rows([line_at(attribute, row)])
    return found


def flag_at(attribute: Partition, row: int) -> bool:
    """Returns whether an attribute flags a document."""
    for suffix in FLAG_TABLES:
        if attribute.has(suffix):
            return bool(attribute.array_rows(suffix, row, row + 1)[0])
    spans = attribute_at(attribute, row).attributes.values()
    return any(score > 0 for found in spans for _, _, score in found)


def lines_from(partition: Partition, first: int) -> Iterator[bytes]:
    """Yields the lines of a partition's file of rows from a row on."""
    if not partition.has(".members.npy"):
        yield from islice(partition.lines(), first, None)
        return
    yield from partition.chosen_lines(np.arange(partition.file(JSONL).rows or 0) >= first)


def is_stream(made: Partition) -> bool:
    """Returns whether a partition is one of a token stream."""
    return made.has(LENGTHS)


def rows_in(made: Partition) -> int:
    """Returns how many documents or examples a partition has."""
    return made.file(LENGTHS if is_stream(made) else JSONL).rows or 0


def id_in_stream(stream: Partition, number: int) -> str:
    """Returns the id of a document."""
    before = int(stream.array_rows(DOCUMENTS, number - 1, number)["id_end"][0]) if number else 0
    end = int(stream.array_rows(DOCUMENTS, number, number + 1)["id_end"][0])
    return stream.array_rows(IDS, before, end).tobytes().decode("utf-8", "surrogatepass")


def numbers_of_id(stream: Partition, wanted: str, *, whole: bool) -> Iterator[int]:
    """Yields the documents with an id, or whose id holds a piece."""
    search = rows_of_id if whole else rows_that_hold
    yield from search(stream.array(DOCUMENTS)["id_end"], stream.array(IDS), wanted.encode("utf-8", "surrogatepass"))


def ids_at(stream: Partition, number: int) -> NDArray[np.int32]:
    """Returns the ids of a document."""
    lengths = stream.array(LENGTHS)
    start = int(lengths[:number].sum(dtype=np.int64))
    found: NDArray[np.int32] = stream.array(DATA)[start : start + int(lengths[number])].astype(np.int32)
    return found


def documents_that_hold(stream: Partition, ids: NDArray[np.int32]) -> Iterator[int]:
    """Yields the documents that hold a run of ids, in order. Memory is that of a window of ids."""
    data, last = stream.array(DATA), -1
    ends = np.cumsum(stream.array(LENGTHS), dtype=np.int64)
    for start in range(0, len(data), _IDS_WINDOW):
        window = data[start : start + _IDS_WINDOW + len(ids) - 1]
        places = np.flatnonzero(window[: max(0, len(window) - len(ids) + 1)] == ids[0])
        for offset in range(1, len(ids)):
            places = places[window[places + offset] == ids[offset]]
        for place in (places + start).tolist():
            number = int(np.searchsorted(ends, place, side="right"))
            if number != last and place + len(ids) <= ends[number]:
                last = number
                yield number
