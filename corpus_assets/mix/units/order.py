"""The order of documents by a score: over all chunks, sorted or in phases.

A use of a document gets a place from 0 to 1 among all, of which the chunk follows; the order inside a chunk is a rank
of 32 bits before the keyed hash. So pass 2 sorts by one number as ever.
"""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import inf

from corpus_assets.config.selection.mixing import MixOrder
from corpus_assets.filter.rules.entries import Entries
from corpus_assets.mix.units.dimensions import Scored, subject_of
from corpus_assets.mix.units.values import Subject

_ALL = 2.0**64
_SIGN, _BITS = 1 << 31, (1 << 32) - 1
Place = Callable[[float | None, int], tuple[int, int]]
"""Chunk and rank of a use of a document, given its score and a hash of 64 bits."""


@dataclass(frozen=True)
class Order:
    """`mix.order` by a score. phases: shares of the documents up to the end of each but the last; None: sorted."""

    subject: Subject
    descending: bool
    phases: tuple[Fraction, ...] | None
    chunks: int

    @property
    def _ends(self) -> tuple[Fraction, ...]:
        if self.phases is not None:
            return self.phases
        return tuple(Fraction(part, self.chunks) for part in range(1, self.chunks))

    @property
    def scored(self) -> Scored:
        """The borders that it needs. Documents without the score count as the last."""
        shares = tuple(1 - end for end in reversed(self._ends)) if self.descending else self._ends
        return Scored("order", self.subject, shares, -inf if self.descending else inf)

    def place(self, stored: Sequence[float | None]) -> Place:
        """Returns the function that places uses of documents. stored: the borders, None for those at infinity."""
        missing = self.scored.missing
        assert missing is not None, "documents without the score are in the order too"
        sign = -1.0 if self.descending else 1.0
        borders = sorted(sign * (missing if border is None else border) for border in stored)
        ends = [0.0, *map(float, self._ends), 1.0]
        sorted_ = self.phases is None

        def place(score: float | None, hash_: int) -> tuple[int, int]:
            value = inf if score is None else sign * score
            part = bisect_left(borders, value)
            # A score that is several borders fills several parts: those that have it are spread over all of these.
            low, high = ends[part], ends[max(part + 1, bisect_right(borders, value))]
            at = min(low + (high - low) * (hash_ / _ALL), 1 - 2**-53)
            return int(at * self.chunks), _rank(value) if sorted_ else bisect_right(ends, at)

        return place


def order_of(section: str | MixOrder, entries: Entries, chunks: int) -> Order | None:
    """Returns the order by a score; None without one. `ConfigError` for an attribute that does not exist."""
    if isinstance(section, str):
        return None
    ends = None
    if section.phases is not None:
        shares = [Fraction(share).limit_denominator(10**6) for share in section.phases]
        ends = tuple(end / sum(shares) for end in accumulate(shares[:-1]))
    return Order(subject_of(section, entries, "mix.order.by", is_score=True), section.descending, ends, chunks)


def _rank(value: float) -> int:
    """Returns 32 bits in the order of numbers: those of the nearest float."""
    bits = int.from_bytes(struct.pack("<f", min(max(value, -3e38), 3e38) if value != inf else inf), "little")
    return bits ^ _BITS if bits & _SIGN else bits | _SIGN
