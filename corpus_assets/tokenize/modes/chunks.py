"""Documents and examples in chunks of text that are packed separately."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Protocol, TypeVar


class Placed(Protocol):
    """A row with its place in its file."""

    @property
    def part(self) -> int:
        """Number of the archive member or listed text that it lies in."""

    @property
    def skipped(self) -> int:
        """Bad rows before it in that part."""


T = TypeVar("T", bound=Placed)


def chunked(items: Iterable[T], size: Callable[[T], int], limit: int | None) -> Iterator[Iterable[T]]:
    """Yields items in chunks of at most `limit` bytes of text, or of one item; None for all in one.

    A chunk ends with its part of the file. Cerebras' Model Zoo also counts the bytes of the item's number in its part
    for the item that would begin the next chunk (docs/formats/cerebras-hdf5.md "Chunks of text").
    """
    if limit is None:
        yield items
        return
    for _, part in groupby(items, lambda item: item.part):
        yield from _chunked_part(part, size, limit)


def _chunked_part(items: Iterable[T], size: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    chunk: list[T] = []
    held = 0
    for place, item in enumerate(items):
        found, number = size(item), place + item.skipped
        if held and held + found + max(1, (number.bit_length() + 7) // 8) > limit:
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += found
    yield chunk
