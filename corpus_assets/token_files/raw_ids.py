"""Ids without a header: OLMo's `.npy` with a table of documents in `.csv.gz`, and nanoGPT's `.bin`."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.pairs import group_pairs
from corpus_assets.token_files.pieces import BLOCK_IDS, How, Pieces, TokenFile, TokenSource, by_lengths, by_separator
from resources.formats.codecs import FREE_BYTES, RATIO, open_gzip
from resources.raw_places.files import FoundFile
from resources.raw_places.interface import Group

_TABLE = ".csv.gz"
_MOST_DIGITS = 40
_NPY = b"\x93NUMPY"

OLMO_GROUP = partial(group_pairs, said=_TABLE, ids=".npy", needed=False)


def group_each(files: Sequence[FoundFile], _: Callable[[FoundFile], bytes]) -> Iterator[Group]:
    """Yields every `.bin` by itself."""
    yield from (Group(file, file.path.removesuffix(".bin")) for file in files if file.path.endswith(".bin"))


def read_olmo(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of a file; documents end where its table says, or without one at separators."""
    data = source.open_ending(".npy")
    smallest = np.min_scalar_type(max(how.vocabulary - 1, 0))
    dtype = np.dtype(how.section.id_type or smallest).newbyteorder("<")
    if not source.members or how.section.borders == "separator":
        if how.section.borders == "stored":
            raise data.bad(f"has no {_TABLE} beside it; valid with `borders: stored`: one with its documents")
        return _plain(data, dtype, how)
    return by_lengths(data, dtype, _lengths(source.open_ending(_TABLE), data, _count(data, dtype)))


def read_nanogpt(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of a file, in which documents end at separators."""
    return _plain(source.open(), np.dtype(how.section.id_type or "uint16").newbyteorder("<"), how)


def _plain(data: TokenFile, dtype: np.dtype[Any], how: How) -> Iterator[Pieces]:
    count = _count(data, dtype)
    assert how.separator is not None, "documents are told apart by the separator"
    return by_separator(data.blocks(dtype, count, "ids"), how.separator, before=how.section.side == "before")


def _count(data: TokenFile, dtype: np.dtype[Any]) -> int:
    """Returns how many ids a file has, which is then read at its beginning."""
    if data.file.read(len(_NPY)) == _NPY:
        raise data.bad("begins as an array of NumPy; valid: ids without a header (`format: ragged` reads arrays)")
    data.file.seek(0)
    return data.count_of(dtype)


def _lengths(table: TokenFile, data: TokenFile, count: int) -> Iterator[NDArray[np.int64]]:
    """Yields the ids of each document of a table in blocks; `BadFileError` unless they cover the ids without a gap."""
    text = io.TextIOWrapper(open_gzip(table.file, table.size * RATIO + FREE_BYTES), "utf-8", newline="")
    rows, end, number = _spans(csv.reader(text), table), 0, 0
    while spans := list(islice(rows, BLOCK_IDS)):
        bounds = np.array(spans, np.int64)
        expected = np.concatenate([[end], bounds[:-1, 1]])
        wrong = np.flatnonzero((bounds[:, 0] != expected) | (bounds[:, 1] < bounds[:, 0]) | (bounds[:, 1] > count))
        if len(wrong):
            start, stop = bounds[wrong[0]].tolist()
            raise table.bad(
                f"document {number + wrong[0]:,} is from id {start:,} to {stop:,}; expected: from "
                f"{expected[wrong[0]]:,}, where the one before it ends, to at most {count:,}, the ids of {data.where}"
            )
        yield bounds[:, 1] - bounds[:, 0]
        end, number = int(bounds[-1, 1]), number + len(bounds)
    if end != count:
        raise table.bad(f"names documents up to id {end:,}; {data.where} has {count:,} ids")


def _spans(rows: Iterator[list[str]], table: TokenFile) -> Iterator[tuple[int, int]]:
    """Yields the first two columns of a table."""
    number = 0
    try:
        for number, row in enumerate(rows):
            start, end = map(_id_number, row[:2])
            if start < 0 or end < 0 or max(start, end) >= 2**62:
                shown = [value[:_MOST_DIGITS] for value in row[:2]]
                raise table.bad(f"line {number + 1:,} begins with {shown}; valid: two numbers, start and end")
            yield start, end
    except (csv.Error, UnicodeDecodeError) as fault:
        raise table.bad(f"cannot be read after line {number:,}: {fault}") from fault
    except ValueError as fault:
        raise table.bad(f"line {number + 1:,} has fewer than two columns; valid: start, end, and others") from fault


def _id_number(value: str) -> int:
    """Returns a number of few digits; -1 for anything else. Python refuses to read numbers of thousands of digits."""
    return int(value) if len(value) <= _MOST_DIGITS and value.isascii() and value.isdecimal() else -1
