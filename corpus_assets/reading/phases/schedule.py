"""Which source each window of a plan comes from: the one that lacks most of its share in the phase so far.

That is the smooth weighted round robin of nginx: each window adds to every source its part, and takes all parts from
the source that then has most. So after n windows of a phase a source had its share of them, but for less than the
number of sources.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.reading.phases.plan import Planned

Ints = NDArray[np.int64]


class Schedule:
    """The windows of all phases as one list. sources: names in the order of their numbers.

    It keeps where it was asked last, so that reading on costs nothing; going back begins again with the phase, at some
    hundred million windows per second and source.
    """

    def __init__(self, phases: Sequence[Planned]) -> None:
        self.sources = sorted({source for phase in phases for source in phase.parts})
        self._parts = [np.array([phase.parts.get(source, 0) for source in self.sources], np.int64) for phase in phases]
        self._begins = np.cumsum([0, *(phase.windows for phase in phases)]).tolist()
        zeros = np.zeros(len(self.sources), np.int64)
        self._had: list[Ints] = [zeros]
        self._begin(0)

    def __len__(self) -> int:
        return int(self._begins[-1])

    def windows(self, first: int, count: int) -> tuple[Ints, Ints]:
        """Returns the sources of windows from `first` on, and which windows of theirs these are, over all epochs."""
        from corpus_assets.reading.kernels.schedule import draw

        self._go_to(first)
        sources, uses = np.empty(count, np.int64), np.empty(count, np.int64)
        drawn = 0
        while drawn < count:
            end = min(count, drawn + self._left())
            draw(self._parts[self._phase], self._credits, self._counts, sources[drawn:end], uses[drawn:end])
            self._move(end - drawn)
            drawn = end
        return sources, uses

    def counts(self, place: int) -> dict[str, int]:
        """Returns how many windows of each source come before a place."""
        self._go_to(place)
        return dict(zip(self.sources, self._counts.tolist(), strict=True))

    def _go_to(self, place: int) -> None:
        from corpus_assets.reading.kernels.schedule import skip

        if place < self._place:
            known = len(self._had)
            self._begin(max(number for number in range(known) if self._begins[number] <= place))
        while self._place < place:
            count = min(place - self._place, self._left())
            skip(self._parts[self._phase], self._credits, self._counts, count)
            self._move(count)

    def _left(self) -> int:
        return int(self._begins[self._phase + 1]) - self._place

    def _move(self, count: int) -> None:
        """Goes on by some windows, of this phase at most; at its end the next one begins."""
        self._place += count
        if not self._left() and self._phase + 1 < len(self._parts):
            if len(self._had) == self._phase + 1:
                self._had.append(self._counts.copy())
            self._begin(self._phase + 1)

    def _begin(self, phase: int) -> None:
        self._phase, self._place = phase, int(self._begins[phase])
        self._counts = self._had[phase].copy()
        self._credits = np.zeros(len(self.sources), np.int64)
