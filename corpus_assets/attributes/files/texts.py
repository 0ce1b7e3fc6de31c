"""The rows of a raw file beside which attributes lie: which gave documents, and where their texts were changed."""

from collections.abc import Callable, Collection, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from corpus_assets.normalize.reading import all_rows, normalizer_of
from corpus_assets.raw.bad_rows import GAPS
from corpus_assets.raw.losses import BAD_FILE
from resources.errors import StorageError
from resources.formats.documents import Document
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition
from resources.stage.task import Task

Fix = Callable[[str], str]


class Changed(NamedTuple):
    """A text that normalization changed."""

    given: str
    fixed: str


class Described(NamedTuple):
    """A row that gave a document. length: code points of its text as it was given."""

    id: str
    length: int
    changed: Changed | None


def is_left_out(task: Task) -> bool:
    """Returns whether the raw file was left out as a whole, since it could not be read."""
    return BAD_FILE in task.input("normalized_documents").record.statistics.get("dropped", {})


def raw_count(task: Task) -> int:
    """Returns how many rows the raw file has."""
    documents = task.input("normalized_documents")
    return len(documents.array(".texts.npy")) + len(_gaps(documents))


def raw_rows(task: Task) -> Iterator[Described | None]:
    """Yields for each row of the raw file its document, or None if it gave none.

    Texts are read only if normalization may have changed them.
    """
    left_out = iter(_gaps(task.input("normalized_documents")))
    rows = _as_given(task.input("normalized_documents")) if task["normalize.method"] == "none" else _read(task)
    number, gap = 0, next(left_out, None)
    for row in chain(rows, [None]):
        while number == gap:
            yield None
            number, gap = number + 1, next(left_out, None)
        if row is not None:
            yield row
            number += 1


def _gaps(documents: Partition) -> list[int]:
    """Returns the numbers of the rows of a raw file that gave no document."""
    return documents.array(GAPS).tolist() if documents.has(GAPS) else []


def _as_given(documents: Partition) -> Iterator[Described]:
    for identifier, lengths in zip(document_ids(documents), documents.array(".lengths.npy").tolist(), strict=True):
        yield Described(identifier, lengths[0], None)


def _read(task: Task) -> Iterator[Described]:
    """Yields the documents that the raw file gave, with their texts as they were given."""
    documents, fix = task.input("normalized_documents"), normalizer_of(task.parameters)
    ids, left_out = document_ids(documents), set(_gaps(documents))
    for number, row in enumerate(all_rows(task.shard, task.parameters, opened=task.raw)):
        if number in left_out:
            continue
        if not isinstance(row, Document) or next(ids, None) != row.id:
            raise StorageError(f"{task.shard.label} row {number}: gave another document; build again")
        fixed = fix(row.text)
        yield Described(row.id, len(row.text), None if fixed == row.text else Changed(row.text, fixed))


def document_ids(documents: Partition) -> Iterator[str]:
    """Yields the ids of a shard's documents."""
    return identifiers(documents.array(".texts.npy")["id_end"], documents.array(".ids.npy"))


def moved(places: Collection[int], text: Changed, fix: Fix) -> dict[int, int]:
    """Returns where places of a text as it was given are in the normalized one, in code points; without those nowhere.

    A place is in both if the text before it and the text after it, each normalized alone, are the normalized text.
    """
    ends = sorted({0, len(text.given), *places})
    pieces = [fix(text.given[start:end]) for start, end in pairwise(ends)]
    if "".join(pieces) == text.fixed:
        return dict(zip(ends, np.cumsum([0, *map(len, pieces)]).tolist(), strict=True))
    found = {0: 0, len(text.given): len(text.fixed)}
    for place in ends[1:-1]:
        before = fix(text.given[:place])
        if before + fix(text.given[place:]) == text.fixed:
            found[place] = len(before)
    return found
