"""The table of benchmark items: the set of each, and how it is searched for."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.index import NO_NGRAM, Index, Rules

MANY = 3
"""From so many items on, their common n-grams may be a form."""

Search = Literal["ngrams", "whole", "too_short", "template"]


class ItemRow(msgspec.Struct):
    """One item.

    number: its row in the set, from 0.
    words: their number.
    search: `ngrams`: by its n-grams; `whole`: as a whole, since an n-gram has all of its words; `too_short`: not
        searched for, since it has too few words; `template`: not searched for, since all its n-grams are in too many
        other items.
    """

    set: str
    number: int
    id: str
    words: int
    search: Search = "ngrams"


def with_search(rows: Sequence[ItemRow], index: Index, rules: Rules) -> Iterator[ItemRow]:
    """Yields the rows of all items, in the order of the index, with their kind of search."""
    counts = ngrams_of_items(index, np.zeros(len(index.keys), dtype=np.bool_))
    for row, count in zip(rows, counts.tolist(), strict=True):
        ngram = rules.ngram_of(row.words)
        search: Search = "ngrams" if row.words > ngram else "whole"
        if not count:
            search = "template" if ngram else "too_short"
        yield msgspec.structs.replace(row, search=search)


def ngrams_of_items(index: Index, muted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns the number of counting n-grams of each item (items,). muted: (n-grams,) those that do not count."""
    has = index.ngrams != NO_NGRAM
    if len(muted):
        has &= ~muted[index.ngrams]
    sums = np.concatenate([[0], np.cumsum(has)])
    counts: NDArray[np.int64] = sums[index.items[1:]] - sums[index.items[:-1]]
    return counts


def shares_in_common(index: Index, muted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns the share of each item's n-grams that `MANY` items have or more (items,); 0 where none counts."""
    items_of_places = np.searchsorted(index.items, index.places, side="right")
    ends = index.ends.astype(np.int64)
    sizes = ends - np.concatenate([[0], ends[:-1]])
    groups = np.repeat(np.arange(len(index.ends)), sizes)
    first = np.ones(len(groups), dtype=np.bool_)
    first[1:] = (groups[1:] != groups[:-1]) | (items_of_places[1:] != items_of_places[:-1])
    rare = np.bincount(groups, weights=first, minlength=len(index.ends)) < MANY
    counting, common = ngrams_of_items(index, muted), ngrams_of_items(index, muted | rare)
    return np.asarray(common / np.maximum(counting, 1))


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(ItemRow)


def encode_item(row: ItemRow) -> bytes:
    """Returns an item as one JSON line, newline included."""
    return _ENCODER.encode(row) + b"\n"


def decode_item(line: bytes) -> ItemRow:
    """Returns the item of a JSON line."""
    return _DECODER.decode(line)
