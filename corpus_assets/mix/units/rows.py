"""The documents of a shard with their attributes, those of unfiltered documents too."""

from collections.abc import Iterator, Sequence
from itertools import repeat

import msgspec

from corpus_assets.filter.filtered_documents import CHANGES, Change
from resources.documents.attribute_rows import AttributeFile
from resources.documents.row_rule import Row
from resources.formats.attributes import Span
from resources.formats.jsonl.compressions import JSONL
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition

_CHANGE = msgspec.json.Decoder(Change)


def rows_of(documents: Partition, attributes: Sequence[Partition], *, lines: bool) -> Iterator[Row]:
    """Yields the documents that the filter left, each with its attributes.

    attributes: of these documents, or of those before the filter; `AlignmentError` names file and row of one that
    belongs to neither. lines: whether anything of the documents themselves is read; without it rows have no line.
    """
    texts = documents.array(".texts.npy")
    dropped = _dropped(documents)
    before = len(texts) + (sum(1 for _ in _dropped(documents)) if attributes else 0)
    unfiltered = [attribute.has(JSONL) and attribute.file(JSONL).rows == before for attribute in attributes]
    sizes = [before if of_all else len(texts) for of_all in unfiltered]
    files = [AttributeFile(attribute, size) for attribute, size in zip(attributes, sizes, strict=True)]
    of_all = [file for file, whole in zip(files, unfiltered, strict=True) if whole and before > len(texts)]
    gone = next(dropped, None)
    number = 0
    held = documents.lines() if lines else repeat(b"", len(texts))
    for identifier, line in zip(identifiers(texts["id_end"], documents.array(".ids.npy")), held, strict=True):
        while gone is not None and gone.row == number:
            for file in of_all:
                file.take(gone.id)
            gone = next(dropped, None)
            number += 1
        found: dict[str, list[Span]] = {}
        for file in files:
            found |= file.take(identifier)
        yield Row(number, line, found)
        number += 1
    while gone is not None:
        for file in of_all:
            file.take(gone.id)
        gone = next(dropped, None)
    for file in files:
        file.finish()


def _dropped(documents: Partition) -> Iterator[Change]:
    """Yields the documents that the filter dropped, in their order."""
    if documents.has(CHANGES):
        changes = map(_CHANGE.decode, documents.lines(CHANGES))
        yield from (change for change in changes if change.dropped is not None)
