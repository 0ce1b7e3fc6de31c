"""Documents and examples in chunks of text that are packed by themselves."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def chunked(items: Iterable[T], size: Callable[[T], int], limit: int | None) -> Iterator[Iterable[T]]:
    """Yields items in chunks of at most `limit` bytes of text, or of one item; None for all in one.

    Cerebras' Model Zoo also counts the bytes of the item's number for the item that would begin the next chunk
    (docs/formats/cerebras-hdf5.md "Chunks of text").
    """
    if limit is None:
        yield items
        return
    chunk: list[T] = []
    held = 0
    for number, item in enumerate(items):
        found = size(item)
        if held and held + found + max(1, (number.bit_length() + 7) // 8) > limit:
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += found
    yield chunk
