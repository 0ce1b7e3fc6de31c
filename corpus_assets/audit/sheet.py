"""The sheet of a sample: a CSV file to write judgements into, and to read them from."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from corpus_assets.html.comparing import Pieces, compared
from resources.errors import BadFileError

JUDGEMENTS = ("right", "wrong", "unsure")
SHOWN = 10_000
"""Characters of each text that a sheet holds."""

_COLUMNS = (
    "judgement", "source", "band", "similarity", "contained", "removed_id", "kept_source", "kept_id",
    "removed_text", "kept_text", "removed_shard", "removed_row", "kept_shard", "kept_row", "build",
)  # fmt: skip
_ASKED = ("judgement", "removed_shard", "removed_row", "build")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MOST_BYTES = 1 << 28
Place = tuple[str, int]
"""Shard and row of a document."""


class Item(NamedTuple):
    """A removed document beside the one that was kept instead. similarity: of their texts, 0 to 1.

    held: the share of the removed document's shingles that the kept one has, if it went for that reason; else 0.
    """

    source: str
    band: str
    similarity: float
    held: float
    removed_id: str
    removed: Place
    kept_source: str
    kept_id: str
    kept: Place
    texts: tuple[str, str]

    def pieces(self) -> tuple[Pieces, Pieces]:
        """Returns the beginnings of the removed and the kept text in pieces: what both have, and what only one has."""
        removed, kept = compared(*(printable(text[:SHOWN]) for text in self.texts))
        return removed, kept


class Judgement(NamedTuple):
    """A judgement, and the row of the sheet that it stands in: the first row below the head is 1."""

    row: int
    removed: Place
    said: str


def printable(text: str) -> str:
    """Returns a text in which characters that do not print are replaced."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


def csv_of(items: Iterable[Item], build: str) -> bytes:
    """Returns the sheet: UTF-8 with a mark, so that spreadsheets read it as such.

    What only the removed text has stands in `[-` and `-]`, what only the kept one has in `{+` and `+}`.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for item in items:
        removed, kept = item.pieces()
        shares = f"{item.similarity:.4f}", f"{item.held:.4f}" if item.held else ""
        cells = ("", item.source, item.band, *shares, item.removed_id, item.kept_source, item.kept_id)
        texts = _marked(removed, "[-", "-]"), _marked(kept, "{+", "+}")
        writer.writerow([*map(_inert, (*cells, *texts)), *item.removed, *item.kept, build])
    return out.getvalue().encode("utf-8-sig", "replace")


def _marked(pieces: Pieces, start: str, end: str) -> str:
    return "".join(text if same else f"{start}{text}{end}" for text, same in pieces)


def _inert(cell: str) -> str:
    """Returns a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else printable(cell)


def judgements(path: Path, build: str) -> list[Judgement]:
    """Returns what was written into the sheet of a build; rows without a judgement are left out.

    `BadFileError` names the row, what it has, and what is valid: for a sheet of another build, other words, columns
    that are absent, and two judgements of one document.
    """
    found: dict[Place, Judgement] = {}
    for row, cells in _rows(path):
        if cells["build"] != build:
            words = f"is of build {cells['build'][:40]!r}, but the near-duplicates are now those of {build!r}"
            raise BadFileError(f"{path}, row {row}", f"{words}; draw a new sheet")
        said = cells["judgement"].strip().lower()
        if not said:
            continue
        if said not in JUDGEMENTS:
            valid = ", ".join(JUDGEMENTS)
            raise BadFileError(f"{path}, row {row}", f"judgement is {said[:40]!r}; valid: {valid}, or nothing")
        if not (number := cells["removed_row"].strip()).isdecimal() or len(number) > 18:
            raise BadFileError(f"{path}, row {row}", f"removed_row is {number[:40]!r}; valid: the row of a document")
        place = cells["removed_shard"], int(number)
        if place in found:
            raise BadFileError(f"{path}, row {row}", f"judges the document of row {found[place].row} again; keep one")
        found[place] = Judgement(row, place, said)
    return list(found.values())


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yields the rows of a sheet with their numbers; columns may be in any order, and cut by commas or semicolons."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise BadFileError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadFileError(str(path), "is not UTF-8; save the sheet as CSV in UTF-8") from None
    if len(content) > _MOST_BYTES:
        raise BadFileError(str(path), f"has more than {_MOST_BYTES:,} bytes; no sheet is that large")
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    row = 0
    try:
        names = next(reader, [])
        if absent := [name for name in _ASKED if name not in names]:
            raise BadFileError(str(path), f"has no column {absent[0]!r}; a sheet has {', '.join(_ASKED)}")
        for row, cells in enumerate(reader, 1):
            if not any(cells):
                continue
            if len(cells) != len(names):
                raise BadFileError(f"{path}, row {row}", f"has {len(cells)} cells; the head has {len(names)}")
            yield row, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise BadFileError(f"{path}, row {row + 1}", str(error)) from None
