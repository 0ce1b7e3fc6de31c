"""What is found in clusters of ranges, and added up over all of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.clusters.worst import WORST, Worst
from corpus_assets.dedup.documents.numbering import Documents, Numbering


class Found:
    """The worst and the largest clusters, their numbers, and how many kept documents joined others (`gone`).

    Those of several ranges are added up by `add`, in any order.
    """

    def __init__(self, numbering: Numbering) -> None:
        self.worst, self.gone = Worst(), 0
        self.numbers = ClusterNumbers(numbering, np.empty((0, 2), numbering.dtype))
        self._large: list[tuple[int, int, list[int]]] = []

    def add_large(self, kept: int, size: int, members: Documents) -> None:
        """Adds a large cluster with some of its members, if it is among the largest; of equal size the first is."""
        self._large = sorted([*self._large, (-size, kept, members.tolist())])[:WORST]

    def report(self) -> dict[str, Any]:
        """Returns all of it, ready for JSON."""
        return {
            "worst": self.worst.state(),
            "largest": self._large,
            "gone": self.gone,
            "numbers": self.numbers.counts(),
        }

    def add(self, report: Mapping[str, Any], dtype: np.dtype[Any]) -> None:
        """Adds what was found in one range."""
        self.worst.merge(report["worst"])
        self.numbers.merge(report["numbers"])
        self.gone += report["gone"]
        for size, kept, members in report["largest"]:
            self.add_large(kept, -size, np.array(members, dtype))

    def with_largest(self, dtype: np.dtype[Any]) -> Worst:
        """Returns the worst clusters, with the largest of those that are not suspicious."""
        for size, kept, members in self._large:
            self.worst.add_unsuspected(kept, -size, np.array(members, dtype))
        return self.worst
