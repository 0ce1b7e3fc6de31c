"""The rows of a shard as rules see them: documents, with the attributes that lie beside them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from resources.documents.attribute_rows import AttributeFile
from resources.documents.row_rule import Row
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
