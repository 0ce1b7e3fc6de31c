"""The rows of a shard as rules see them: documents, with the attributes that lie beside them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np

from resources.documents.row_rule import Row
from resources.errors import AlignmentError
from resources.formats.attributes import Span
from resources.formats.jsonl.members import TABLE, Member
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition

_BLOCK = 256
"""Rows held at once for a file without a table of members."""


class Block(NamedTuple):
    """Some consecutive rows. member: the member of the file that holds exactly these rows, if known."""

    rows: list[Row]
    member: Member | None


class _AttributeRow(msgspec.Struct):
    id: str
    attributes: dict[str, list[Span]]


_DECODER = msgspec.json.Decoder(_AttributeRow)


class AttributeFile:
    """The rows of one attribute, which must match the documents one by one.

    `AlignmentError` names file and row otherwise.
    """

    def __init__(self, attribute: Partition, documents: int) -> None:
        if not attribute.has(".jsonl.gz"):
            raise AlignmentError(attribute.name, 0, f"there is no file of attributes for {documents} documents")
        file = attribute.file(".jsonl.gz")
        if file.rows is not None and file.rows != documents:
            fault = "is missing" if file.rows < documents else "is one too many"
            raise AlignmentError(
                file.path, min(file.rows, documents), f"{fault}: {file.rows} rows for {documents} documents"
            )
        self._path = file.path
        self._documents = documents
        self._lines = attribute.lines()
        self._row = 0

    def take(self, identifier: str) -> dict[str, list[Span]]:
        """Returns the spans of the next document."""
        row, self._row = self._row, self._row + 1
        line = next(self._lines, None)
        if line is None:
            raise AlignmentError(self._path, row, f"is missing: {row} rows for {self._documents} documents")
        try:
            found = _DECODER.decode(line)
        except msgspec.DecodeError as error:
            raise AlignmentError(self._path, row, f"is no row of attributes: {error}") from None
        if found.id != identifier:
            raise AlignmentError(self._path, row, f"has id {found.id!r}, the document there has {identifier!r}")
        return found.attributes

    def finish(self) -> None:
        """Raises `AlignmentError` if there is another row."""
        if next(self._lines, None) is not None:
            raise AlignmentError(self._path, self._row, f"is one too many for {self._documents} documents")


def blocks(documents: Partition, attributes: Sequence[Partition]) -> Iterator[Block]:
    """Yields the rows of a shard with their attributes, each block by its member of the file if there is a table."""
    texts = documents.array(".texts.npy")
    files = [AttributeFile(attribute, len(texts)) for attribute in attributes]
    ids = identifiers(texts["id_end"], documents.array(".ids.npy"))
    first = 0
    for lines, member in _held_lines(documents, len(texts)):
        named = zip(lines, ids, strict=False)
        rows = [Row(first + place, line, _beside(files, known)) for place, (line, known) in enumerate(named)]
        yield Block(rows, member)
        first += len(lines)
    for file in files:
        file.finish()


def _beside(files: Sequence[AttributeFile], identifier: str) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for file in files:
        found |= file.take(identifier)
    return found


def _held_lines(documents: Partition, count: int) -> Iterator[tuple[list[bytes], Member | None]]:
    if documents.has(TABLE):
        for member, _ in documents.members(np.ones(count, dtype=np.bool_)):
            yield member.lines(), member
        return
    lines = documents.lines()
    while block := list(islice(lines, _BLOCK)):
        yield block, None
