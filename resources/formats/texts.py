"""Texts as UTF-8 in one buffer, which is how kernels take them: many at once, none as an object of its own."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from resources.formats.documents import decode_document
from resources.processes.long_documents import wait_for_turn

BLOCK_BYTES = 1 << 18
"""Bytes of texts that are worth a call, and stay in the processor's cache from one to the next."""

DOCUMENT_TEXTS = "resources.formats.kernels.json_text.document_texts"
"""The kernel that `document_texts` calls."""


class Texts(NamedTuple):
    """Texts one after another.

    characters: uint8 (bytes,). bounds: int64 (texts + 1,), where each starts and the last ends.
    """

    characters: NDArray[np.uint8]
    bounds: NDArray[np.int64]

    def of(self, number: int) -> bytes:
        """Returns one text."""
        return self.characters[self.bounds[number] : self.bounds[number + 1]].tobytes()


def joined(texts: Iterable[bytes]) -> Texts:
    """Returns texts in a buffer that may be written."""
    held = list(texts)
    bounds = np.fromiter(chain((0,), map(len, held)), dtype=np.int64, count=len(held) + 1)
    return Texts(np.frombuffer(bytearray().join(held), dtype=np.uint8), np.cumsum(bounds))


def batches(texts: Iterable[str], most: int) -> Iterator[Texts]:
    """Yields texts in batches of up to `most`, or a few more bytes than a block; lone surrogates are three bytes each.

    A batch is yielded before the text after it is read.
    """
    held: list[bytes] = []
    size = 0
    for text in texts:
        held.append(text.encode("utf-8", "surrogatepass"))
        size += len(held[-1])
        if size >= BLOCK_BYTES or len(held) == most:
            yield joined(held)
            held, size = [], 0
    if held:
        yield joined(held)


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream in blocks of whole lines; a block is longer than usual if a line is."""
    held = BytesIO()  # A long line grows in place, and is given away without a copy.
    while read := stream.read(BLOCK_BYTES):
        end = read.rfind(b"\n") + 1
        if end:
            held.write(read[:end])
            block = [held.getvalue()]
            held = BytesIO()
            yield block.pop()
        held.write(read[end:])
        wait_for_turn(held.tell())
    if rest := held.getvalue():
        yield rest


def document_texts(block: bytes) -> Texts:
    """Returns the texts of a block of lines, each a document.

    Raises `msgspec.DecodeError` for a line that is none.
    """
    from resources.formats.kernels.json_text import document_texts as read

    lines = np.frombuffer(block, dtype=np.uint8)
    bounds = np.empty(np.count_nonzero(lines == ord("\n")) + 1, dtype=np.int64)
    characters = np.empty(len(block), dtype=np.uint8)
    count = read(lines, characters, bounds)
    if count == len(bounds) - 1:
        return Texts(characters[: bounds[-1]], bounds)
    return joined(decode_document(line).text.encode() for line in BytesIO(block))
