"""From pairs to clusters with a document to keep: union-find, the keep rules, then the guard."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.columns import Column
from corpus_assets.dedup.components import UnionFind
from corpus_assets.dedup.guard import Examined, GuardRules, examine, lowest_agreements, suspects, working_bytes
from corpus_assets.dedup.keep import Facts, Rule, best, ranking
from corpus_assets.dedup.pairs import Documents, Edges
from corpus_assets.dedup.spill import Buckets, Spill
from corpus_assets.dedup.verify import agreements, range_rows


@dataclass(frozen=True)
class Finding:
    """One cluster that the guard looked at: its members, ascending, and what it found (None: larger than memory)."""

    kept: int
    size: int
    members: Documents
    examined: Examined | None


class Settled:
    """Clusters of two documents and more, each with the document that is kept."""

    def __init__(self, sets: UnionFind, rules: Sequence[Rule], facts: Facts) -> None:
        self._sets = sets
        self.roots, self.kept = best(sets.clusters(), rules, facts)
        self._moved = np.empty(0, self.roots.dtype)
        self._moved_to = np.empty((0, 2), self.roots.dtype)

    def blocks(self) -> Iterator[tuple[Documents, Documents, Documents]]:
        """Blocks of (members, kept, sizes), members ascending through all of them."""
        for members, places, sizes in self.joined():
            kept = self.kept[places]
            if len(self._moved):
                moves = np.searchsorted(self._moved, members)
                moves[moves == len(self._moved)] = 0
                moved = self._moved[moves] == members
                kept[moved], sizes[moved] = self._moved_to[moves[moved]].T
            together = sizes > 1
            yield members[together], kept[together], sizes[together]

    def joined(self) -> Iterator[tuple[Documents, NDArray[np.intp], Documents]]:
        """Blocks of (members, positions of their clusters, sizes), as union-find joined them."""
        for members, roots, sizes in self._sets.clusters():
            yield members, np.searchsorted(self.roots, roots), sizes

    def cluster_of(self, documents: Documents) -> NDArray[np.intp]:
        """Position of the cluster of each of these documents, which must be in one."""
        return np.searchsorted(self.roots, self._sets.root_of(documents))

    def kept_for_others(self) -> Documents:
        """The documents that are kept while others go, ascending."""
        found = [np.unique(kept[members != kept]) for members, kept, _ in self.blocks()]
        return np.unique(np.concatenate([np.empty(0, self.roots.dtype), *found]))

    def largest(self, count: int, sample: int = 3) -> list[tuple[int, int, Documents]]:
        """(kept, size, first members) of the largest clusters; of equal size those that come first."""
        found: list[tuple[int, int]] = []
        for members, kept, sizes in self.blocks():
            leads = np.flatnonzero(members == kept)
            top = leads[np.argsort(-sizes[leads].astype(np.int64), kind="stable")[:count]]
            found += zip((-sizes[top].astype(np.int64)).tolist(), members[top].tolist(), strict=True)
            found = sorted(found)[:count]
        firsts: dict[int, list[int]] = {kept: [] for _, kept in found}
        for members, kept, _ in self.blocks():
            for lead, known in firsts.items():
                if len(known) < sample:
                    known.extend(members[kept == lead][: sample - len(known)].tolist())
        return [(kept, -size, np.array(firsts[kept], dtype=self.roots.dtype)) for size, kept in found]

    def move(self, members: Documents, kept: Documents, sizes: NDArray[np.integer[Any]]) -> None:
        """Put these documents into other groups: the kept document and the size of each one's group."""
        order = np.argsort(members)
        self._moved = members[order]
        self._moved_to = np.stack([kept, sizes.astype(kept.dtype)], axis=1)[order]


@dataclass(frozen=True)
class Scale:
    """How many documents there are, how many bits a sketch has, and the means to work with them."""

    total: int
    bits: int
    memory: int
    spill: Spill


def guard_clusters(
    settled: Settled,
    edges: Iterable[Edges],
    *,
    rules: Sequence[Rule],
    facts: Facts,
    guard: GuardRules,
    sketches: Column,
    scale: Scale,
) -> Iterator[Finding]:
    """Examine every suspicious cluster and split those that the guard splits; to be read to the end.

    `edges` are all pairs. A cluster that needs more than half of the memory stays as it is.
    """
    if guard.action == "off" or not len(settled.roots):
        return
    suspicious = _suspicious(settled, guard, sketches, scale)
    moves = [_nothing_moved(settled)]
    for place, members, links in _gathered(settled, edges, suspicious, scale):
        examined = None
        if working_bytes(len(members), len(links), scale.bits) <= scale.memory // 2:
            examined = examine(members, ranking(members, rules, facts), links, sketches.take(members), guard)
            if len(examined.kept) > 1:
                moves.append((members, examined.kept[examined.groups], examined.sizes()[examined.groups]))
        yield Finding(int(settled.kept[place]), len(members), members, examined)
    settled.move(*(np.concatenate(columns) for columns in zip(*moves, strict=True)))


def _nothing_moved(settled: Settled) -> tuple[Documents, Documents, NDArray[np.int64]]:
    return settled.roots[:0], settled.kept[:0], np.empty(0, np.int64)


def _suspicious(settled: Settled, guard: GuardRules, sketches: Column, scale: Scale) -> NDArray[np.intp]:
    """Positions of the clusters to examine."""
    sizes = np.zeros(len(settled.roots), dtype=np.int64)
    for _, places, counts in settled.joined():
        sizes[places] = counts
    rows = range_rows(scale.bits)
    agreed = agreements(
        _with_kept(settled, rows), sketches.rows, scale.total, rows, memory=scale.memory // 2, spill=scale.spill
    )
    lowest = lowest_agreements(settled.kept, agreed, scale.bits)
    return np.flatnonzero(suspects(sizes, lowest, guard, scale.bits))


def _with_kept(settled: Settled, rows: int) -> Iterator[tuple[int, Edges]]:
    """(range of the members, pairs (kept, member)) for all members that are not kept."""
    for members, places, _ in settled.joined():
        kept = settled.kept[places]
        pairs = np.stack([kept, members], axis=1)[kept != members]
        numbers = pairs[:, 1] // pairs.dtype.type(rows)
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        for block in np.split(pairs, cuts):
            if len(block):
                yield int(block[0, 1]) // rows, block


def _gathered(
    settled: Settled, edges: Iterable[Edges], suspicious: NDArray[np.intp], scale: Scale
) -> Iterator[tuple[int, Documents, Edges]]:
    """Position, members (ascending) and pairs of each suspicious cluster."""
    bucket = np.full(len(settled.roots), -1, dtype=np.int64)
    bucket[suspicious] = np.arange(len(suspicious))
    dtype = settled.roots.dtype
    share = scale.memory // 8
    with (
        Buckets(len(suspicious), dtype, share, scale.spill) as members,
        Buckets(len(suspicious), [("pair", dtype, (2,))], share, scale.spill) as links,
    ):
        for documents, places, _ in settled.joined():
            chosen = bucket[places] >= 0
            members.append(bucket[places[chosen]], documents[chosen])
        for block in edges:
            numbers = bucket[settled.cluster_of(block[:, 0])]
            pairs = np.ascontiguousarray(block[numbers >= 0], dtype=dtype)
            links.append(numbers[numbers >= 0], pairs.view([("pair", dtype, (2,))]).reshape(-1))
        for number, place in enumerate(suspicious.tolist()):
            found = [np.empty((0, 2), dtype), *(rows["pair"] for rows in links.rows(number))]
            yield place, np.concatenate(list(members.rows(number))), np.concatenate(found)
