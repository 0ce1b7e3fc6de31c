"""The result of a method of packing: packs of sequences, and numbers derived from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from corpus_assets.packing.histogram import Histogram, ids_in


class Strategy(NamedTuple):
    """Packs that hold sequences of the same lengths: these lengths, and how many such packs there are."""

    lengths: tuple[int, ...]
    repeat: int


@dataclass(frozen=True)
class Packs:
    """Sequences in packs of at most `capacity` ids; a pack fills one row.

    count: packs.
    tokens: ids of sequences in them.
    sequences: that were to be packed.
    truncated: their ids that are in no pack.
    cut: sequences that are divided between two packs, on average over all orders.
    strategies: the lengths that packs hold, for a caller who assigns sequences to them; None for a method that takes
        sequences one by one. A slot of a strategy may stay empty: empty_slots of them do.
    """

    capacity: int
    count: int
    sequences: int
    tokens: int
    truncated: int = 0
    cut: float = 0.0
    strategies: tuple[Strategy, ...] | None = None
    empty_slots: int = 0

    @property
    def efficiency(self) -> float:
        """Share of the positions of all packs that hold an id of a sequence, 0 to 1; 0 without packs."""
        return self.tokens / (self.count * self.capacity) if self.count else 0.0

    @property
    def padded(self) -> int:
        """Positions of all packs that hold no id of a sequence."""
        return self.count * self.capacity - self.tokens

    @property
    def sequences_per_pack(self) -> float:
        """Sequences to a pack on average; 0 without packs. The papers call it the speed-up."""
        return self.sequences / self.count if self.count else 0.0


def packs_of(histogram: Histogram, strategies: Iterable[Strategy]) -> Packs:
    """Returns packs that hold all sequences of a histogram; slots beyond these are empty."""
    found = tuple(strategies)
    sequences = int(histogram.sum())
    return Packs(
        capacity=histogram.size,
        count=sum(strategy.repeat for strategy in found),
        sequences=sequences,
        tokens=ids_in(histogram),
        strategies=found,
        empty_slots=sum(len(strategy.lengths) * strategy.repeat for strategy in found) - sequences,
    )


def lower_bound(histogram: Histogram) -> int:
    """Returns the fewest packs that could hold all ids of the sequences."""
    return -(-ids_in(histogram) // histogram.size)
