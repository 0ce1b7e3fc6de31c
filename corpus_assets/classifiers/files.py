"""Files of examples outside the corpus: JSON lines with `text`, plain or gzip."""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from corpus_assets.classifiers.conditions import Condition, counts, value_at
from resources.errors import BadFileError
from resources.outside_files import OutsideFile

TEXT = "text"
_LONGEST = 64 << 20
_GZIP = b"\x1f\x8b"
_SHOWN = 10
_ROW = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True)
class ExampleFile:
    """A file of one class. conditions: those that its rows must meet, any of them."""

    file: OutsideFile
    label: str
    conditions: Sequence[Condition]

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yields the rows that count, with their text; `BadFileError` names file and row of one that is bad."""
        seen: dict[str, None] = {}
        rows = found = 0
        keys = {condition["key"] for condition in self.conditions} - {None}
        had = not keys
        for number, row in self._rows():
            rows += 1
            had = had or any(value_at(row, key) is not None for key in keys)
            if len(seen) < _SHOWN:
                seen |= dict.fromkeys(row)
            if counts(self.conditions, row):
                found += 1
                yield number, self._text(row, number)
        if not had:
            names, there = ", ".join(map(repr, sorted(keys))), ", ".join(seen) or "nothing"
            raise BadFileError(self.file.name, f"none of its {rows:,} rows has the key {names}; they have: {there}")

    def _text(self, row: Mapping[str, Any], number: int) -> str:
        text = row.get(TEXT)
        if not isinstance(text, str):
            there = ", ".join(list(row)[:_SHOWN]) or "nothing"
            raise BadFileError(f"{self.file.name} row {number}", f"has no text at {TEXT!r}; it has: {there}")
        return text.encode("utf-8", "replace").decode()

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.file.open() as stream:
            first = stream.read(len(_GZIP))
        try:
            with self.file.open() as stream, gzip.open(stream) if first == _GZIP else stream as lines:
                number = 0
                while line := lines.readline(_LONGEST):
                    if line.strip():
                        yield number, self._row(line, number)
                    number += 1
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadFileError(self.file.name, f"is damaged: {error}") from None

    def _row(self, line: bytes, number: int) -> dict[str, Any]:
        if len(line) >= _LONGEST:
            raise BadFileError(f"{self.file.name} row {number}", f"has {_LONGEST} bytes or more")
        try:
            return _ROW.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadFileError(f"{self.file.name} row {number}", f"is no JSON object: {error}") from None
