"""From pairs to clusters with a kept document: union-find, the keep rules, then the guard."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.clusters.guard import Finding, GuardRules, examine, lowest_agreements, suspects
from corpus_assets.dedup.clusters.keep import Facts, best, ranking
from corpus_assets.dedup.clusters.leaders import Comparison
from corpus_assets.dedup.clusters.sketched import sketched
from corpus_assets.dedup.clusters.splits import Split, compare
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents, Edges
from corpus_assets.dedup.documents.places import Places
from corpus_assets.dedup.signatures.sketches import Agreements
from corpus_assets.dedup.similarity.jaccard import marked, wanted
from corpus_assets.dedup.similarity.sketch_join import agreements, range_rows
from resources.spill import Buckets, Spill

_MOST_BUCKETS = 1 << 14


class _Gathered(NamedTuple):
    """Position, members (ascending), and the pairs of a cluster."""

    place: int
    members: Documents
    copies: Edges
    similar: Edges


class Settled:
    """Clusters of two or more documents, each with its kept document."""

    def __init__(self, sets: UnionFind, rules: Sequence[Rule], facts: Facts) -> None:
        self._sets, self._rules, self._facts = sets, rules, facts
        self.roots, self.kept = best(sets.clusters(), rules, facts)
        self._places = Places(self.roots, sets.total)
        self._moved = np.empty(0, self.roots.dtype)
        self._moved_to = np.empty((0, 2), self.roots.dtype)

    def ranking(self, members: Documents) -> NDArray[np.int64]:
        """Returns the rank of each member of one cluster (ascending), shape (n,): 0 is the document to keep."""
        return ranking(members, self._rules, self._facts)

    def blocks(self) -> Iterator[tuple[Documents, Documents, Documents]]:
        """Yields blocks of (members, kept, sizes), members ascending through all of them."""
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
        """Yields blocks of (members, positions of their clusters, sizes) from union-find."""
        for members, roots, sizes in self._sets.clusters():
            yield members, self._places.of(roots), sizes

    def cluster_of(self, documents: Documents) -> NDArray[np.intp]:
        """Returns the position of each document's cluster; every document must be in one."""
        return self._places.of(self._sets.root_of(documents))

    def kept_for_others(self) -> Documents:
        """Returns the kept documents of clusters with removed ones, ascending."""
        # Every document of a block has others in its cluster, of which one is kept.
        found = [members[members == kept] for members, kept, _ in self.blocks()]
        return np.concatenate([np.empty(0, self.roots.dtype), *found])

    def largest(self, count: int, sample: int = 3) -> list[tuple[int, int, Documents]]:
        """Returns (kept, size, first members) of the largest clusters; of equal size those that come first."""
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
        """Moves documents to other groups, each with the kept document and the size of its group."""
        order = np.argsort(members)
        self._moved = members[order]
        self._moved_to = np.stack([kept, sizes.astype(kept.dtype)], axis=1)[order]


@dataclass(frozen=True)
class Scale:
    """The number of documents and of bits per sketch, and the memory and files to work with."""

    total: int
    bits: int
    memory: int
    spill: Spill


@dataclass(frozen=True)
class Pairs:
    """The pairs that joined the clusters, in blocks (m, 2) that can be read repeatedly.

    copies: the first document with a text, and a later one with the same. similar: all others; if there are `copies`,
    only between first documents with a text.
    """

    copies: Callable[[], Iterator[Edges]]
    similar: Callable[[], Iterator[Edges]]


def guard_clusters(
    settled: Settled,
    pairs: Pairs,
    *,
    guard: GuardRules,
    sketches: Column,
    scale: Scale,
    on_finding: Callable[[Finding], None],
    comparison: Comparison | None = None,
) -> int:
    """Examines every suspicious cluster, splits those that the guard splits, and hands each finding to `on_finding`.

    Kept documents of a split cluster are compared with each other if `comparison` says how. Returns how many of them go
    because they are similar to another.
    A cluster of more than `guard.max_examined` documents stays as it is; it is a finding only if
    a document in it is unlike the kept one.
    """
    if guard.action == "off" or not len(settled.roots):
        return 0
    sizes = _sizes(settled)
    resembling = _paired_with_kept(settled, pairs, scale.total) if guard.paired else None
    lowest = _lowest(settled, sketches, scale, resembling)
    too_large = sizes > guard.max_examined
    for place in np.flatnonzero(too_large & (lowest < guard.least(scale.bits))).tolist():
        on_finding(Finding(int(settled.kept[place]), int(sizes[place]), settled.roots[place : place + 1], None))
    suspicious = np.flatnonzero(suspects(sizes, lowest, guard, scale.bits) & ~too_large)
    splits: list[Split] = []
    gathered = _gathered(settled, pairs, suspicious, scale)
    for (place, members, copies, similar), held in sketched(gathered, sketches):
        links, ranks = np.concatenate([copies, similar]), settled.ranking(members)
        examined = examine(members, ranks, links, held, guard, copies=copies)
        if len(examined.kept) > 1:
            splits.append(Split(int(settled.kept[place]), members, examined, ranks, copies))
        else:
            on_finding(Finding(int(settled.kept[place]), len(members), members, examined))
    gone = 0 if comparison is None else compare(splits, comparison)
    for split in splits:
        on_finding(split.finding())
    if splits:
        settled.move(*(np.concatenate(columns) for columns in zip(*(split.moves() for split in splits), strict=True)))
    return gone


def _sizes(settled: Settled) -> NDArray[np.int64]:
    """Returns the number of documents of each cluster."""
    sizes = np.zeros(len(settled.roots), dtype=np.int64)
    for _, places, counts in settled.joined():
        sizes[places] = counts
    return sizes


def _paired_with_kept(settled: Settled, pairs: Pairs, total: int) -> NDArray[np.uint8]:
    """Returns a bitmap of the documents whose text is paired with that of the kept document of their cluster."""
    firsts = settled.kept.copy()
    for block in pairs.copies():
        places = settled.cluster_of(block[:, 1])
        is_kept = settled.kept[places] == block[:, 1]
        firsts[places[is_kept]] = block[is_kept, 0]

    def with_kept() -> Iterator[Edges]:
        yield np.stack([firsts, firsts], axis=1)
        for block in pairs.similar():
            yield block[(block == firsts[settled.cluster_of(block[:, 0])][:, None]).any(axis=1)]

    found = wanted(with_kept(), total)
    for block in pairs.copies():
        later = block[marked(found, block[:, 0]), 1]
        np.bitwise_or.at(found, later >> 3, np.uint8(1) << (later & 7).astype(np.uint8))
    return found


def _lowest(settled: Settled, sketches: Column, scale: Scale, resembling: NDArray[np.uint8] | None) -> Agreements:
    """Returns for each cluster the least agreement of a member with its kept document, without `resembling` members."""
    rows, half = range_rows(scale.bits), scale.memory // 2
    pairs = _with_kept(settled, rows, resembling)
    agreed = agreements(pairs, sketches.rows, scale.total, rows, memory=half, spill=scale.spill)
    return lowest_agreements(settled.kept, agreed, scale.bits)


def _with_kept(settled: Settled, rows: int, resembling: NDArray[np.uint8] | None) -> Iterator[tuple[int, Edges]]:
    """Yields (range of the members, pairs (kept, member)) for all members that are neither kept nor `resembling`."""
    for members, places, _ in settled.joined():
        kept = settled.kept[places]
        chosen = kept != members
        if resembling is not None:
            chosen &= ~marked(resembling, members)
        pairs = np.stack([kept, members], axis=1)[chosen]
        numbers = pairs[:, 1] // pairs.dtype.type(rows)
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        for block in np.split(pairs, cuts):
            if len(block):
                yield int(block[0, 1]) // rows, block


def _gathered(settled: Settled, pairs: Pairs, suspicious: NDArray[np.intp], scale: Scale) -> Iterator[_Gathered]:
    """Yields the suspicious clusters."""
    number = np.full(len(settled.roots), -1, dtype=np.int64)
    number[suspicious] = np.arange(len(suspicious))
    # Many clusters share a bucket, since every full buffer stores an index of all buckets.
    wide = max(-(-len(suspicious) // _MOST_BUCKETS), 1)
    count, share = -(-len(suspicious) // wide), scale.memory // 8
    member_type, link_type = (_record(settled.roots.dtype, columns) for columns in (1, 3))
    with (
        Buckets(count, member_type, share, scale.spill) as members,
        Buckets(count, link_type, share, scale.spill) as links,
    ):
        for documents, places, _ in settled.joined():
            _put(members, member_type, number[places], documents[:, None], wide)
        for is_copy, blocks in enumerate((pairs.similar, pairs.copies)):
            for block in blocks():
                rows = np.column_stack([block, np.full(len(block), is_copy, dtype=block.dtype)])
                _put(links, link_type, number[settled.cluster_of(block[:, 0])], rows, wide)
        for bucket in range(count):
            inside = range(bucket * wide, min((bucket + 1) * wide, len(suspicious)))
            documents_of = _clusters(members, member_type, bucket, inside)
            links_of = _clusters(links, link_type, bucket, inside)
            for cluster, own, joined in zip(inside, documents_of, links_of, strict=True):
                copies = joined[:, 2] > 0
                yield _Gathered(int(suspicious[cluster]), own[:, 0], joined[copies, :2], joined[~copies, :2])


def _record(dtype: np.dtype[Any], columns: int) -> np.dtype[np.void]:
    return np.dtype([("cluster", "<i8"), ("row", dtype, (columns,))])


def _put(buckets: Buckets, record: np.dtype[np.void], clusters: NDArray[np.int64], rows: Edges, wide: int) -> None:
    """Adds the rows (n, columns) of numbered clusters."""
    chosen = clusters >= 0
    records = np.empty(int(chosen.sum()), dtype=record)
    records["cluster"], records["row"] = clusters[chosen], rows[chosen]
    buckets.append(records["cluster"] // wide, records)


def _clusters(buckets: Buckets, record: np.dtype[np.void], bucket: int, inside: range) -> list[Edges]:
    """Returns the rows of each of a bucket's clusters, in the order in which they were added."""
    records = np.concatenate([np.empty(0, record), *buckets.rows(bucket)])
    order = np.argsort(records["cluster"], kind="stable")
    cuts = np.searchsorted(records["cluster"][order], np.asarray(inside[1:], dtype=np.int64))
    return np.split(records["row"][order], cuts)
