"""Reads single documents, and cuts their texts for a page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from corpus_assets.report.model import Text
from resources.documents.names import shown_id
from resources.formats.documents import Document, decode_document
from resources.stage.partition import Partition

Place = tuple[str, int]
"""Shard key and row of a document."""

SHOWN = 1600
"""Characters of a text that are shown."""


def read(partitions: Iterable[Partition], places: Iterable[Place]) -> dict[Place, Document]:
    """Returns the documents at some places; reads no more of each file than it must."""
    rows: dict[str, list[int]] = defaultdict(list)
    for shard, row in places:
        rows[shard].append(row)
    found: dict[Place, Document] = {}
    for partition in partitions:
        wanted = sorted(set(rows.get(partition.key or "", ())))
        if not wanted:
            continue
        chosen = np.zeros(partition.file(".texts.npy").rows or 0, dtype=np.bool_)
        chosen[wanted] = True
        for row, line in zip(wanted, partition.chosen_lines(chosen), strict=True):
            found[partition.key or "", row] = decode_document(line)
    return found


def beginning(text: str, start: int = 0) -> tuple[str, bool]:
    """Returns what is shown of a text from a character on, and whether it is less than all; unprintable is replaced."""
    cut = text[start : start + SHOWN]
    shown = "".join(character if character.isprintable() or character in "\n\t" else "�" for character in cut)
    return shown, len(cut) < len(text)


def shown(document: Document, pieces: list[tuple[str, str]], *, cut: bool) -> Text:
    """Returns a text with its marks as the model has it."""
    return Text(document.source, shown_id(document.id, 200), pieces, len(document.text.encode()), cut)


def marked(text: str, spans: Iterable[tuple[int, int]], start: int, mark: str) -> list[tuple[str, str]]:
    """Returns the shown text in pieces, those in spans (characters of the whole text, ascending) marked."""
    part, _ = beginning(text, start)
    pieces: list[tuple[str, str]] = []
    at = 0
    for first, end in spans:
        low, high = (min(max(place - start, at), len(part)) for place in (first, end))
        pieces += [piece for piece in ((part[at:low], ""), (part[low:high], mark)) if piece[0]]
        at = high
    return [*pieces, (part[at:], "")] if part[at:] else pieces


def by_key(partitions: Iterable[Partition]) -> Mapping[str, Partition]:
    """Returns partitions by their keys."""
    return {partition.key or "": partition for partition in partitions}
