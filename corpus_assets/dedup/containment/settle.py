"""Which documents go because a kept one holds them, or is similar, and which are kept.

The pairs "stands in" and "is similar to" join documents to groups (union-find). Within a group the document that
`dedup.keep` puts first is kept, of those that no undecided document strictly holds; what it holds goes, and what is
similar to it; then the next. So what goes stands in the document kept in its place, or is similar to it, and no kept
document stands in another, as far as pairs say. Of two that hold each other neither is strict: `dedup.keep` decides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.guard import distinct_texts
from corpus_assets.dedup.clusters.resolve import Settled
from corpus_assets.dedup.documents.numbering import Documents, Edges
from resources.spill import Buckets, Spill

_PER_BUCKET = 1 << 14
_MOST_BUCKETS = 1 << 12
_COPY, _SIMILAR, _HELD = 0, 1, 2
NO_SHARE = 0


@dataclass(frozen=True)
class Relations:
    """Pairs of documents, in blocks that can be read repeatedly.

    copies: the first document with a text and a later one with the same. similar: documents that may go for each other.
    held: (document, one that holds it) and the share in millionths. Both are between first documents with a text, but
    for those of `similar` that name a kept document.
    """

    copies: Callable[[], Iterator[Edges]]
    similar: Callable[[], Iterator[Edges]]
    held: Callable[[], Iterator[tuple[Edges, NDArray[np.uint32]]]]

    def joined(self) -> Iterator[Edges]:
        """Yields all pairs that join groups."""
        yield from self.copies()
        yield from self.similar()
        yield from (edges for edges, _ in self.held())


class Decided(NamedTuple):
    """Documents (n,), ascending, and the one kept in the place of each.

    shares: which share of the document the kept one holds, in millionths; 0 if it does not go for that reason.
    """

    members: Documents
    kept: Documents
    shares: NDArray[np.uint32]

    def places_of(self, documents: Documents) -> NDArray[np.int64]:
        """Returns the place of each document among the members; all of them must be members."""
        return np.searchsorted(self.members, documents)

    def sizes(self) -> NDArray[np.int64]:
        """Returns the number of documents in the group of each."""
        _, groups, sizes = np.unique(self.kept, return_inverse=True, return_counts=True)
        found: NDArray[np.int64] = sizes[groups]
        return found

    def held(self) -> NDArray[np.void]:
        """Returns the documents that go because the kept one holds them (`held_rows`), ascending."""
        gone = np.flatnonzero(self.shares != NO_SHARE)
        rows = np.empty(len(gone), held_rows(self.members.dtype))
        rows["document"], rows["share"] = self.members[gone], self.shares[gone]
        return rows


def settle(settled: Settled, relations: Relations, memory: int, spill: Spill) -> Decided:
    """Decides about every document of `settled`, which has the groups of all pairs of `relations`."""
    dtype = settled.roots.dtype
    kind = np.dtype([("pair", dtype, (2,)), ("kind", "u1"), ("share", "<u4")])
    count = min(max(len(settled.roots) // _PER_BUCKET, 1), _MOST_BUCKETS)
    wide = -(-max(len(settled.roots), 1) // count)
    found = [Decided(*(np.empty(0, kind) for kind in (dtype, dtype, np.uint32)))]
    with Buckets(count, kind, memory // 4, spill) as buckets:
        for rows in _rows(relations, kind):
            buckets.append(settled.cluster_of(rows["pair"][:, 0]) // wide, rows)
        for number in range(count):
            rows = np.concatenate([np.empty(0, kind), *buckets.rows(number)])
            if len(rows):
                found.append(_decided(rows, settled))
    members, kept, shares = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.argsort(members)
    return Decided(members[order], kept[order], shares[order])


def held_rows(numbers: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of a removed document and the share of it, in millionths, that the kept one holds."""
    return np.dtype([("document", numbers), ("share", "<u4")])


def _rows(relations: Relations, kind: np.dtype[Any]) -> Iterator[NDArray[np.void]]:
    nothing = np.zeros(1, np.uint32)
    for name, blocks in ((_COPY, relations.copies()), (_SIMILAR, relations.similar())):
        for block in blocks:
            yield _row(block, name, nothing, kind)
    for edges, shares in relations.held():
        yield _row(edges, _HELD, shares, kind)


def _row(edges: Edges, name: int, shares: NDArray[np.uint32], kind: np.dtype[Any]) -> NDArray[np.void]:
    rows = np.empty(len(edges), kind)
    rows["pair"], rows["kind"], rows["share"] = edges, name, shares
    return rows


def _decided(rows: NDArray[np.void], settled: Settled) -> Decided:
    """Decides about the documents of some groups, all of whose pairs are given."""
    from corpus_assets.dedup.kernels.holding import keep

    members = np.unique(rows["pair"])
    ranks = settled.ranking(members)
    texts, text_of = distinct_texts(members, rows["pair"][rows["kind"] == _COPY])
    best = np.full(len(texts), len(members), dtype=np.int64)
    np.minimum.at(best, text_of, ranks)
    # A text is numbered by its place from the best to the worst.
    number = np.empty(len(texts), dtype=np.int64)
    number[np.argsort(best)] = np.arange(len(texts))
    node_of = number[text_of]
    places = [node_of[np.searchsorted(members, rows["pair"][:, side])] for side in (0, 1)]
    takes = _Takes.of(places, rows["kind"], rows["share"], len(texts))
    leaders = np.empty(len(texts), dtype=np.int64)
    keep(takes.starts, takes.taken, takes.strict, leaders)
    by_rank = np.argsort(ranks)
    _, firsts = np.unique(node_of[by_rank], return_index=True)
    kept = members[by_rank[firsts]][leaders[node_of]]
    shares = takes.share(np.arange(len(texts)), leaders)[node_of]
    return Decided(members, kept, shares)


class _Takes(NamedTuple):
    """Which texts may go for which, by the latter: `taken[starts[i]]` to `taken[starts[i + 1]]` for text i.

    strict: whether i holds the text and is not held by it. codes, shares: (text held, holder) as one number, ascending,
    and the share.
    """

    starts: NDArray[np.int64]
    taken: NDArray[np.int64]
    strict: NDArray[np.bool_]
    codes: NDArray[np.int64]
    shares: NDArray[np.uint32]

    @classmethod
    def of(
        cls, places: list[NDArray[np.int64]], kinds: NDArray[np.uint8], shares: NDArray[np.uint32], count: int
    ) -> "_Takes":
        """Makes the lists of pairs between `count` texts."""
        left, right = places
        held = kinds == _HELD
        codes, firsts = np.unique(left[held] * count + right[held], return_index=True)
        shares = shares[held][firsts]
        small, large = np.divmod(codes, count)
        mutual = np.isin(large * count + small, codes, assume_unique=True)
        similar = (kinds == _SIMILAR) & (left != right)
        both = np.concatenate([left[similar] * count + right[similar], right[similar] * count + left[similar]])
        # By the document that takes: (holder, held) for all, each once; those that are strict are marked.
        strict = large[~mutual] * count + small[~mutual]
        edges = np.unique(np.concatenate([large * count + small, both]))
        takers, taken = np.divmod(edges, count)
        starts = np.searchsorted(takers, np.arange(count + 1))
        return cls(starts, taken, np.isin(edges, strict, assume_unique=True), codes, shares)

    def share(self, texts: NDArray[np.int64], holders: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Returns the share of each text that a holder holds, 0 where no pair says so."""
        asked = texts * (len(self.starts) - 1) + holders
        if not len(self.codes):
            return np.zeros(len(texts), dtype=np.uint32)
        places = np.minimum(np.searchsorted(self.codes, asked), len(self.codes) - 1)
        return np.where(self.codes[places] == asked, self.shares[places], np.uint32(NO_SHARE))
