"""Numbers of clusters for people: their sizes, which source repeats which, and how many copies are exact."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Documents, Edges, Numbering


class ClusterNumbers:
    """Counts blocks of cluster members.

    exact: the pairs (n, 2) of the first document with a text and a later one, ascending by the later.
    """

    def __init__(self, numbering: Numbering, exact: Edges) -> None:
        self._numbering = numbering
        self._sources = list(dict.fromkeys(numbering.sources))
        place = {source: number for number, source in enumerate(self._sources)}
        self._source_of_shard = np.array([place[source] for source in numbering.sources], np.int64)
        self._exact = exact
        self._sizes = Counter[int]()
        self._pairs = {True: Counter[int](), False: Counter[int]()}

    def add(self, members: Documents, kept: Documents, sizes: Documents) -> None:
        """Counts members (n,) with the kept document and the size of their clusters."""
        gone = members != kept
        powers = np.frexp(sizes[~gone].astype(np.float64))[1]
        # Pairs and triples are counted separately, since most clusters are that small.
        powers[sizes[~gone] == 2] = 1
        self._sizes.update(dict(zip(*map(np.ndarray.tolist, np.unique(powers, return_counts=True)), strict=True)))
        removed, instead = members[gone], kept[gone]
        pairs = self._source(removed) * len(self._sources) + self._source(instead)
        exact = self._is_exact(removed, instead)
        for counted, chosen in ((True, exact), (False, ~exact)):
            found = np.unique(pairs[chosen], return_counts=True)
            self._pairs[counted].update(dict(zip(*map(np.ndarray.tolist, found), strict=True)))

    def counts(self) -> dict[str, Any]:
        """Returns all that is counted, ready for JSON."""
        pairs = {"exact": self._pairs[True], "near": self._pairs[False]}
        return {"sizes": sorted(self._sizes.items()), **{name: sorted(of.items()) for name, of in pairs.items()}}

    def merge(self, counts: Mapping[str, Any]) -> None:
        """Adds what was counted of other clusters among the same documents."""
        for held, name in ((self._sizes, "sizes"), (self._pairs[True], "exact"), (self._pairs[False], "near")):
            held.update(dict(counts[name]))

    def statistics(self) -> dict[str, Any]:
        """Returns the numbers by the names under which they are recorded.

        cluster_sizes: clusters by their size. who_duplicates_whom: removed documents by their source and that of the
        kept document. removed_exact: removed documents, by source, whose text an earlier or the kept document has;
        removed_near: the others.
        """
        whom: dict[str, dict[str, int]] = {}
        for pair, count in sorted((self._pairs[True] + self._pairs[False]).items()):
            removed, kept = (self._sources[place] for place in divmod(pair, len(self._sources)))
            whom.setdefault(removed, {})[kept] = count
        return {
            "cluster_sizes": {_range(power): count for power, count in sorted(self._sizes.items())},
            "who_duplicates_whom": whom,
            "removed_exact": self._by_source(self._pairs[True]),
            "removed_near": self._by_source(self._pairs[False]),
        }

    def removed(self) -> Counter[str]:
        """Returns the number of removed documents by source."""
        return self._by_source_of(self._pairs[True] + self._pairs[False])

    def _source(self, documents: Documents) -> NDArray[np.int64]:
        return self._source_of_shard[self._numbering.shards_of(documents)]

    def _is_exact(self, removed: Documents, kept: Documents) -> NDArray[np.bool_]:
        exact: NDArray[np.bool_] = (self._first(removed) != removed) | (self._first(kept) == removed)
        return exact

    def _first(self, documents: Documents) -> Documents:
        """Returns the first document with the text of each."""
        if not len(self._exact):
            return documents
        places = np.searchsorted(self._exact[:, 1], documents)
        places[places == len(self._exact)] = 0
        pairs = self._exact[places]
        return np.where(pairs[:, 1] == documents, pairs[:, 0], documents)

    def _by_source(self, pairs: Counter[int]) -> dict[str, int]:
        return dict(self._by_source_of(pairs))

    def _by_source_of(self, pairs: Counter[int]) -> Counter[str]:
        found = Counter[str]()
        for pair, count in sorted(pairs.items()):
            found[self._sources[pair // len(self._sources)]] += count
        return found


def _range(power: int) -> str:
    """Returns the sizes with so many bits in words; 1 stands for size 2 only, and 2 for size 3."""
    return str(power + 1) if power < 3 else f"{2 ** (power - 1)}-{2**power - 1}"
