"""The files of datasets of texts for searches: the words of their rows, which are compared as ids of tokens are."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from corpus_assets.contamination.index import word_hashes
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.texts.files import read_rows
from corpus_assets.export.texts.rows import Values
from corpus_assets.takedown.passages import Ids
from resources.formats.documents import Document
from resources.ledger.ledger import FileRecord
from resources.storage.interface import Storage

_NAMES = ("id", "source")
_TEXT = "text"


def rows_of(storage: Storage, dataset: TextDataset, file: FileRecord) -> Iterator[Values]:
    """Yields the rows of a file of a dataset; none of a file that is no such file."""
    if file.path.endswith(f".{dataset.section.files}"):
        with storage.open(file.path) as opened:
            yield from read_rows(opened, dataset.section.files)


def as_document(row: Values, dataset: TextDataset) -> tuple[Document, bool]:
    """Returns what names a row, its other columns being its metadata, and whether it has one text."""
    has_text = dataset.section.rows == _TEXT
    others = {key: value for key, value in row.items() if key not in _NAMES and not (has_text and key == _TEXT)}
    metadata = msgspec.Raw(msgspec.json.encode(others))
    return Document(row["id"], row[_TEXT] if has_text else "", row["source"], metadata=metadata), has_text


def words_of_rows(storage: Storage, dataset: TextDataset, file: FileRecord) -> Iterator[tuple[int, Ids]]:
    """Yields the number of each row of a file, and its words (1, words)."""
    for number, row in enumerate(rows_of(storage, dataset, file)):
        texts = " ".join(text for key, value in row.items() if key not in _NAMES for text in _texts(value))
        yield number, _words(texts)[None]


def words_of_texts(texts: Iterable[str]) -> Iterator[Ids]:
    """Yields the words (words,) of each text that has any."""
    yield from (words for words in map(_words, texts) if len(words))


def _words(text: str) -> Ids:
    hashes, _, _ = word_hashes(text, "separates")
    return hashes.astype(np.uint32).view(np.int32)


def _texts(value: Any) -> Sequence[str] | Iterator[str]:
    """Returns the texts in a column, such as those of all messages."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return (text for one in value.values() for text in _texts(one))
    return (text for one in value for text in _texts(one)) if isinstance(value, list) else []
