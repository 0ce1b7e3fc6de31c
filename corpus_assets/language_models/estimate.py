"""Interpolated modified Kneser-Ney probabilities in bounded memory (Chen and Goodman 1998; Heafield et al. 2013).

Probabilities are those of KenLM's `lmplz`: counts of shorter n-grams are how many different words stand before them,
those of n-grams that begin a line are how often they occur, and single words share their rest with all words alike, the
unknown one among them. Pruning leaves out n-grams by how often they occur, whatever stands before them; discounts and
denominators are of all n-grams, and what those left out had goes to shorter ones. All tables are scattered over buckets
by a hash of what they are grouped or joined by, and come out in the order of that hash, however many buckets there are.
No table is all in memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.language_models.grams import (
    BEGIN_HASH,
    NOTHING,
    Words,
    firsts,
    keys_of,
    ordered,
    places,
    summed,
    table,
)
from resources.spill import Buckets, Spill

FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of n-grams that occur once, twice, and more often, where counts do not say them: those of `lmplz`."""

_COUNTED = 4
_SPARE, _MOST_BITS = 8, 16
Numbers = NDArray[np.float64]
Table = NDArray[Any]


@dataclass(frozen=True)
class Block:
    """n-grams of one length, their probabilities, and the weight of shorter ones where a word after them is new."""

    words: Words
    probability: Numbers
    backoff: Numbers


@dataclass(frozen=True)
class Discounts:
    """What n-grams of one length lose that occur once, twice, and more often. is_fallback: whether counts say them."""

    amounts: tuple[float, float, float]
    is_fallback: bool

    def of(self, counts: NDArray[np.integer[Any]]) -> Numbers:
        """Returns the discount of each count."""
        at_most_three: NDArray[np.int64] = np.minimum(counts, 3).astype(np.int64)
        return np.array([0.0, *self.amounts])[at_most_three]

    def lost(self, number: Sequence[Any] | NDArray[np.int64], size: Any) -> Any:
        """Returns the sum of discounts. number: how many counts are 1 and 2. size: how many there are."""
        first, second, third = self.amounts
        return number[0] * first + number[1] * second + (size - number[0] - number[1]) * third


def discounts_of(number: Sequence[int]) -> Discounts:
    """Returns discounts by how many n-grams have a count of 1, 2, 3 and 4 (equation 26 of Chen and Goodman)."""
    if not all(number[:3]):
        return Discounts(FALLBACK, is_fallback=True)
    share = number[0] / (number[0] + 2 * number[1])
    first, second, third = (n - (n + 1) * share * number[n] / number[n - 1] for n in (1, 2, 3))
    if not all(0 <= amount <= n for n, amount in ((1, first), (2, second), (3, third))):
        return Discounts(FALLBACK, is_fallback=True)
    return Discounts((first, second, third), is_fallback=False)


class Estimate:
    """Probabilities of n-grams of up to `order` words.

    rows: how many counted n-grams will be added. memory: bytes that buffers may use. spill: opens scratch files. `add`
    gets all counted n-grams, those of fewer than `order` words with 0 before them; `count` is called, then `blocks`.
    prune: by length, from 1 on: those are left out that occur at most so often; 0 for single words, and numbers do not
    fall, so that all parts of an n-gram that stays stay too.

    discounts, sizes, pruned: by length, after `count`; sizes of single words are without the begin of a line and the
    unknown word, and sizes are without what is left out, which `pruned` counts. unknown: the probability of the unknown
    word.
    """

    def __init__(self, order: int, rows: int, memory: int, spill: Spill, prune: Sequence[int] = ()) -> None:
        self.order = order
        self.discounts: dict[int, Discounts] = {}
        self.sizes: dict[int, int] = {}
        self.pruned: dict[int, int] = {}
        self.unknown = 0.0
        self._prune = prune or [0] * order
        counts: DTypeLike = ("<u8", (2 if any(prune[:-1]) else 1,))  # The last one: how often the n-gram occurs.
        wanted = _SPARE * rows * table(order, counts=counts).itemsize // max(memory, 1)
        self._bits = min(wanted.bit_length(), _MOST_BITS)
        self._memory, self._spill = memory // (3 * order), spill
        self._counts = {length: self._buckets(length, counts=counts) for length in range(1, order + 1)}
        self._contexts: dict[int, Buckets] = {}
        self._singles = self._buckets(1, probability="<f8")

    def _buckets(self, length: int, **columns: DTypeLike) -> Buckets:
        return Buckets(1 << self._bits, table(length, **columns), self._memory, self._spill)

    def _append(self, buckets: Buckets, key: Words, words: Words, columns: Mapping[str, NDArray[Any]]) -> None:
        """Appends rows to the buckets of hashes of `key`: hashes ascend from bucket to bucket."""
        numbers = keys_of(key) >> np.uint64(64 - self._bits) if self._bits else np.zeros(len(key), np.uint64)
        rows = np.empty(len(words), buckets.dtype)
        rows["words"] = words
        for name, values in columns.items():
            rows[name] = values
        buckets.append(numbers.astype(np.int64), rows)

    def add(self, block: Table) -> None:
        """Adds counted n-grams."""
        lengths = (block["words"] != NOTHING).sum(axis=1)
        for length in np.unique(lengths).tolist():
            rows = block[lengths == length]
            words = rows["words"][:, self.order - length :]
            self._append(self._counts[length], words, words, {"counts": rows["count"][:, None]})

    def count(self) -> None:
        """Sums the counts of n-grams of each length, from the longest on."""
        for length in range(self.order, 1, -1):
            self._contexts[length] = self._buckets(length, count="<i8")
            self._count(length)
        self._count_singles()
        begin = np.array([[BEGIN_HASH]], np.uint64)
        self._append(self._singles, begin, begin, {"probability": np.ones(1)})

    def _count_singles(self) -> None:
        """Sums the counts of single words, and gives them their probabilities."""
        sums, number, size, total = self._buckets(1, count="<u8"), np.zeros(_COUNTED, np.int64), 0, 0
        for block in _whole(self._counts.pop(1)):
            words, counts = summed(block["words"], block["counts"][:, 0])
            number, size, total = number + _numbers(counts), size + len(words), total + int(counts.sum())
            self._append(sums, words, words, {"count": counts})
        self.discounts[1], self.sizes[1], self.pruned[1] = discounts_of(number.tolist()), size, 0
        discounts = self.discounts[1]
        self.unknown = float(discounts.lost(number, size) / total / (size + 1))
        for block in _whole(sums):
            probability = (block["count"] - discounts.of(block["count"])) / total + self.unknown
            self._append(self._singles, block["words"], block["words"], {"probability": probability})

    def _count(self, length: int) -> None:
        """Sums counts of n-grams; for the n-gram behind its first word, each different one counts once."""
        number, size, pruned = np.zeros(_COUNTED, np.int64), 0, 0
        for block in _whole(self._counts.pop(length)):
            words, counts = summed(block["words"], block["counts"])
            stays = counts[:, -1] > self._prune[length - 1]
            number += _numbers(counts[:, 0])
            size, pruned = size + int(stays.sum()), pruned + int((~stays).sum())
            marked = np.where(stays, 1, -1) * counts[:, 0].astype(np.int64)
            self._append(self._contexts[length], words[:, :-1], words, {"count": marked})
            counts[:, 0] = 1
            self._append(self._counts[length - 1], words[:, 1:], words[:, 1:], {"counts": counts})
        self.discounts[length], self.sizes[length], self.pruned[length] = discounts_of(number.tolist()), size, pruned

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Yields all n-grams with their length: by length, and in the order of their hashes."""
        known = self._singles
        for length in range(1, self.order):
            backoffs = self._buckets(length, backoff="<f8")
            shares = self._buckets(length + 1, share="<f8", rest="<f8")
            longer = self._buckets(length + 1, probability="<f8")
            self._divide(length + 1, backoffs, shares)
            for block, behind, part in zip(_whole(known), _whole(backoffs), _whole(shares), strict=True):
                found = _in_order(block)
                yield length, Block(found["words"], found["probability"], _backoffs(found["words"], behind))
                lower = found["probability"][places(found["words"], part["words"][:, 1:])]
                probability = part["share"] + part["rest"] * lower
                self._append(longer, part["words"], part["words"], {"probability": probability})
            known = longer
        for block in _whole(known):
            found = _in_order(block)
            yield self.order, Block(found["words"], found["probability"], np.ones(len(found)))

    def _divide(self, length: int, backoffs: Buckets, shares: Buckets) -> None:
        """Divides probability between the words behind each context, and leaves a rest for shorter contexts.

        Counts under 0 are those of n-grams that are left out.
        """
        discounts = self.discounts[length]
        for rows in _whole(self._contexts.pop(length)):
            if not len(rows):
                continue
            block = rows[ordered(rows["words"][:, :-1])]
            contexts, counts = block["words"][:, :-1], block["count"]
            starts, stays = firsts(contexts), counts > 0
            total = np.add.reduceat(abs(counts), starts).astype(np.float64)
            pruned = np.add.reduceat(np.where(stays, 0, -counts), starts)
            sizes, *number = (
                np.add.reduceat(found.astype(np.int64), starts) for found in (stays, counts == 1, counts == 2)
            )
            rest = (discounts.lost(number, sizes) + pruned) / total
            self._append(backoffs, contexts[starts], contexts[starts], {"backoff": rest})
            words, counts = block["words"][stays], counts[stays]
            columns = {
                "share": (counts - discounts.of(counts)) / np.repeat(total, sizes),
                "rest": np.repeat(rest, sizes),
            }
            self._append(shares, words[:, 1:], words, columns)


def _numbers(counts: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns how many counts are 1, 2, 3 and 4."""
    return np.array([(counts == n).sum() for n in range(1, _COUNTED + 1)], np.int64)


def _whole(buckets: Buckets) -> Iterator[Table]:
    """Yields the rows of each bucket, and closes its file."""
    with buckets:
        for number in range(len(buckets)):
            yield np.concatenate([np.empty(0, buckets.dtype), *buckets.rows(number)])


def _in_order(block: Table) -> Table:
    return block[ordered(block["words"])]


def _backoffs(words: Words, behind: Table) -> Numbers:
    """Returns the weights of n-grams as contexts; 1 for one that is none."""
    known = _in_order(behind)
    found = places(known["words"], words)
    return np.where(found < 0, 1.0, known["backoff"][found] if len(known) else 1.0)
