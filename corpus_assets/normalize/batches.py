"""Normalizes documents in batches, since kernels look at many texts in one call."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from corpus_assets.normalize.settled import unsettled_texts
from corpus_assets.normalize.text import nfc
from corpus_assets.normalize.text_table import TextRow, rows_of
from resources.formats.documents import Document
from resources.formats.texts import Texts, joined

BATCH = 1 << 16
"""Code points of a batch: what was read is still in the processor's cache when it is written."""
MOST = 1024
"""Documents of a batch."""


def normalized(documents: Iterable[Document], fix: Callable[[str], str]) -> Iterator[tuple[Document, TextRow]]:
    """Yields documents with their texts normalized, each with its row in the tables. fix: normalizes one text."""
    for batch in _batches(documents):
        encoded, texts = _in_form_c(batch) if fix is nfc else _fixed(batch, fix)
        yield from zip(batch, rows_of(batch, encoded, texts), strict=True)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yields documents in batches of up to `MOST`, or of at least `BATCH` code points."""
    held: list[Document] = []
    size = 0
    for document in documents:
        held.append(document)
        size += len(document.text)
        if size >= BATCH or len(held) == MOST:
            yield held
            held, size = [], 0
    if held:
        yield held


def _in_form_c(documents: Sequence[Document]) -> tuple[list[bytes], Texts]:
    """Normalizes texts as `nfc` does; returns them as UTF-8. Most are in that form, which one look at all shows."""
    encoded = [document.text.encode() for document in documents]
    texts, is_changed = joined(encoded), False
    for number in unsettled_texts(texts):
        text = nfc(documents[number].text)
        if text != documents[number].text:
            documents[number].text, encoded[number], is_changed = text, text.encode(), True
    return encoded, joined(encoded) if is_changed else texts


def _fixed(documents: Sequence[Document], fix: Callable[[str], str]) -> tuple[list[bytes], Texts]:
    for document in documents:
        document.text = fix(document.text)
    encoded = [document.text.encode() for document in documents]
    return encoded, joined(encoded)
