"""How tables are divided, by their first lines."""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from corpus_assets.raw.rows.rules import FormatOptions

_SEPARATORS: Final = ";\t|,"


def table_options(kind: str, head: bytes) -> FormatOptions:
    """Returns how a table is divided, by its first line: the delimiter, and names of columns if it has none."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff").split("\n", 1)[0].rstrip("\r")
    usual = "\t" if kind.startswith("tsv") else ","
    counts = {mark: first.count(mark) for mark in _SEPARATORS}
    delimiter = usual if counts[usual] else max(counts, key=lambda mark: counts[mark])
    given = delimiter if counts[delimiter] and delimiter != usual else None
    cells: list[str] = next(iter(_cells(first, delimiter)), [])
    names = None
    if any(re.fullmatch(r"-?\d+(\.\d+)?|.{80,}", cell) for cell in cells) or len(set(cells)) < len(cells):
        names = tuple(f"column_{number}" for number in range(1, len(cells) + 1))
    return FormatOptions(delimiter=given, columns=names)


def _cells(line: str, delimiter: str) -> Iterator[list[str]]:
    with suppress(csv.Error):
        yield from csv.reader([line], delimiter=delimiter)
