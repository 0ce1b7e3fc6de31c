"""Tokens as text, one by one: joined where it takes several of them to make whole characters."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from corpus_assets.viewer.site import seen

MOST_JOINED = 8
_CUT = "\ufffd"
Decode = Callable[[Any], str]


@dataclass(frozen=True)
class Cell:
    """One token, or a few that make whole characters together. first: number of the first of them."""

    first: int
    ids: tuple[int, ...]
    text: str
    control: bool


def cells(ids: NDArray[Any], decode: Decode, control: Collection[int]) -> Iterator[Cell]:
    """Yields all ids with their text. control: ids of tokens that no text holds.

    What a token adds to a text depends on the one before it: a decoder may drop the space that begins a text.
    """
    held: list[int] = ids.tolist()
    before: list[int] = []
    said, place = "", 0
    while place < len(held):
        if held[place] in control:
            yield Cell(place, (held[place],), seen(decode(held[place : place + 1])), control=True)
            before, said, place = [], "", place + 1
            continue
        count, text = _whole(held, place, (before, said), decode, control)
        own = held[place : place + count]
        yield Cell(place, tuple(own), seen(text), control=False)
        before, said, place = own, decode(own), place + count


def _whole(
    held: list[int], place: int, before: tuple[list[int], str], decode: Decode, control: Collection[int]
) -> tuple[int, str]:
    """Returns how many tokens make whole characters, and their text; one if none do."""
    alone = ""
    for count in range(1, min(MOST_JOINED, len(held) - place) + 1):
        own = held[place : place + count]
        if count > 1 and own[-1] in control:
            break
        whole = decode([*before[0], *own])
        text = whole[len(before[1]) :] if whole.startswith(before[1]) else decode(own)
        if _CUT not in text:
            return count, text
        alone = alone or text
    return 1, alone
