"""Documents without text whose resemblances are known: made-up signatures, band keys and digests.

A cluster has a base signature and a base sketch. Each member keeps each of their values with the member's own
probability q, so two members agree in J = q * q of their values, their Jaccard similarity, and in (1 + J) / 2 of the
bits of their sketches. Members of close clusters keep 93 % or more (similarity 0.86 to 1) and belong together; a
quarter of them are exact copies. Members of loose clusters keep 72 to 80 % (similarity 0.52 to 0.64): many of them
become candidates, none is a duplicate. All others resemble nobody.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.signatures.bands import NO_KEY, band_keys
from resources.hashing import keyed_hash

PERMUTATIONS, BANDS, ROWS, BITS = 128, 20, 6, 1024
CLOSE_SHARE, LOOSE_SHARE, EXACT_SHARE = 0.3, 0.1, 0.25
_CLOSE_KEEP, _LOOSE_KEEP = (0.93, 1.0), (0.72, 0.8)
_TAIL, _LARGEST = 1.5, 10_000
_BLOCK = 512
_CLUSTERS_AT_ONCE = 1 << 18
_SEED = 1
_GOLDEN = 0x9E3779B97F4A7C15
_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_CLUSTERS, _OWN = np.uint64(1 << 62), np.uint64(2 << 62)

Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class Related:
    """`total` documents; their clusters lie anywhere in the corpus, with sizes from 2 up and a heavy tail."""

    total: int

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """Where each cluster begins on a line of all documents: close clusters, loose clusters, the rest."""
        chance = np.random.default_rng(keyed_hash("sizes", _SEED, self.total))
        sizes = [_sizes(chance, int(share * self.total)) for share in (CLOSE_SHARE, LOOSE_SHARE)]
        return np.cumsum(np.concatenate([[0], *sizes]))

    @cached_property
    def _close(self) -> int:
        """Where the loose clusters begin on the line."""
        return int(self._starts[np.searchsorted(self._starts, CLOSE_SHARE * self.total - 0.5)])

    @cached_property
    def _stride(self) -> int:
        stride = int(self.total * 0.6180339887) | 1
        while gcd(stride, self.total) != 1:
            stride += 2
        return stride

    @cached_property
    def duplicates(self) -> int:
        """Documents that are not the first of their close cluster."""
        return self._close - int(np.searchsorted(self._starts, self._close))

    def clusters(self, documents: Numbers) -> NDArray[np.int64]:
        """Close cluster of each document, -1 if it has none."""
        places = self._places(documents)
        found = np.searchsorted(self._starts, places, side="right") - 1
        return np.where(places < self._close, found, -1)

    def digests(self, documents: Numbers) -> NDArray[np.uint8]:
        """Digests (n, 32), equal for exact copies."""
        keys = documents | _OWN
        rows, clusters = self._members(documents)
        exact = self._kept(documents[rows], clusters) == 1
        keys[rows[exact]] = clusters[exact].astype(np.uint64) | _CLUSTERS
        return _values(keys, 4).view(np.uint8).reshape(len(documents), 32)

    def products(
        self, documents: Numbers, takes_part: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Band keys (bands, n) and sketches (n, bits / 8) of consecutive documents."""
        chance = np.random.default_rng(keyed_hash("values", _SEED, int(documents[0])))
        keys = chance.integers(1, 1 << 64, (BANDS, len(documents)), dtype=np.uint64)
        sketches = chance.integers(0, 256, (len(documents), BITS // 8), dtype=np.uint8)
        for rows, signatures, sketched in self._members_products(documents):
            keys[:, rows] = band_keys(signatures, BANDS, ROWS)
            sketches[rows] = sketched
        keys[:, ~takes_part] = NO_KEY
        return keys, sketches

    def sketches(self, documents: Numbers) -> NDArray[np.uint8]:
        """Sketches (n, bits / 8) of consecutive documents, as `products` gives them for members of clusters."""
        chance = np.random.default_rng(keyed_hash("sketches", _SEED, int(documents[0])))
        sketches = chance.integers(0, 256, (len(documents), BITS // 8), dtype=np.uint8)
        for rows, _, sketched in self._members_products(documents):
            sketches[rows] = sketched
        return sketches

    def edges(self) -> Iterator[tuple[Numbers, NDArray[np.bool_]]]:
        """Yields blocks of pairs (n, 2) that join the close clusters, and which of them are of equal texts.

        Of equal texts, the first with each later one. Of different ones, each with the first of its cluster, but for
        one in twenty, and with the two before it.
        """
        after = int(np.searchsorted(self._starts, self._close))
        back = np.uint64(pow(self._stride, -1, self.total))
        for first in range(0, after, _CLUSTERS_AT_ONCE):
            last = min(first + _CLUSTERS_AT_ONCE, after)
            places = np.arange(self._starts[first], self._starts[last], dtype=np.uint64)
            documents = places * back % np.uint64(self.total)
            clusters = np.searchsorted(self._starts, places.astype(np.int64), side="right") - 1
            order = np.lexsort((documents, clusters))
            documents, clusters = documents[order], clusters[order]
            exact = self._kept(documents, clusters) == 1
            copies = _with_first(documents[exact], clusters[exact])
            own = np.isin(documents, copies[:, 1], invert=True)
            yield copies, np.ones(len(copies), dtype=np.bool_)
            similar = _joined(documents[own], clusters[own])
            yield similar, np.zeros(len(similar), dtype=np.bool_)

    def _members_products(
        self, documents: Numbers
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]]:
        """Rows of the members of clusters, their signatures and their sketches."""
        members, clusters = self._members(documents)
        for start in range(0, len(members), _BLOCK):
            rows, own = members[start : start + _BLOCK], clusters[start : start + _BLOCK]
            words = PERMUTATIONS + BITS // 64
            base = _values(own.astype(np.uint64) | _CLUSTERS, words)
            values = _values(documents[rows] | _OWN, words + BITS // 4)
            keep = self._kept(documents[rows], own)[:, None]
            low = values[:, :PERMUTATIONS] & np.uint64(0xFFFFFFFF)
            chosen = np.where(low < keep * 2.0**32, base[:, :PERMUTATIONS], values[:, :PERMUTATIONS])
            # 16 random bits decide on each bit of a sketch.
            kept = np.packbits(values[:, words:].view(np.uint16) < keep * 2.0**16, axis=1)
            base_bits, own_bits = (side[:, PERMUTATIONS:words].copy().view(np.uint8) for side in (base, values))
            yield rows, (chosen >> np.uint64(32)).astype(np.uint32), (base_bits & kept) | (own_bits & ~kept)

    def _members(self, documents: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of the members of clusters, close or loose, and their clusters."""
        places = self._places(documents)
        rows = np.flatnonzero(places < self._starts[-1])
        return rows, np.searchsorted(self._starts, places[rows], side="right") - 1

    def _kept(self, documents: Numbers, clusters: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the cluster's values that each member keeps."""
        chance = (_values(documents, 2) >> np.uint64(11)) / 2.0**53
        close = self._starts[clusters] < self._close
        least, most = np.where(close, _CLOSE_KEEP[0], _LOOSE_KEEP[0]), np.where(close, _CLOSE_KEEP[1], _LOOSE_KEEP[1])
        shares = least + (most - least) * chance[:, 0]
        shares[close & (chance[:, 1] < EXACT_SHARE)] = 1
        return shares

    def _places(self, documents: Numbers) -> NDArray[np.int64]:
        """A permutation of all documents, with the members of a cluster far from each other."""
        return ((documents * np.uint64(self._stride)) % np.uint64(self.total)).astype(np.int64)


def _with_first(documents: Numbers, clusters: NDArray[np.int64]) -> Numbers:
    """The first document of each cluster with each later one (n, 2); the documents of a cluster lie together."""
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    firsts = np.repeat(documents[starts], np.diff(starts, append=len(documents)))
    pairs = np.stack([firsts, documents], axis=1)
    others: Numbers = pairs[pairs[:, 0] != pairs[:, 1]]
    return others


def _joined(documents: Numbers, clusters: NDArray[np.int64]) -> Numbers:
    """Pairs (n, 2) with the first document of each cluster, and with the two before; each once."""
    stars = _with_first(documents, clusters)
    found = [stars[stars[:, 1] % np.uint64(20) != 0]]
    for away in (1, 2):
        pairs = np.stack([documents[:-away], documents[away:]], axis=1)
        found.append(pairs[clusters[:-away] == clusters[away:]])
    pairs = np.concatenate(found)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    new: NDArray[np.bool_] = np.concatenate([[True], (pairs[1:] != pairs[:-1]).any(axis=1)])
    return pairs[new[: len(pairs)]]


def _sizes(chance: np.random.Generator, members: int) -> NDArray[np.int64]:
    """Sizes that add up to `members`: Pareto-distributed from 2 up, the last one cut."""
    sizes = np.empty(0, dtype=np.int64)
    while sizes.sum() < members:
        more = 2 * (1 + chance.pareto(_TAIL, members // 4 + 1))
        sizes = np.concatenate([sizes, np.minimum(more, _LARGEST).astype(np.int64)])
    ends = np.minimum(np.cumsum(sizes), members)
    return np.diff(ends[: int(np.searchsorted(ends, members)) + 1], prepend=0)


def _values(keys: Numbers, count: int) -> Numbers:
    """`count` random words for each key: (n, count), a function of the key alone."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    values: Numbers = keys[:, None] * _MULTIPLIER + steps
    for shift in (32, 32):
        values ^= values >> np.uint64(shift)
        values *= _MULTIPLIER
    values ^= values >> np.uint64(32)
    return values
