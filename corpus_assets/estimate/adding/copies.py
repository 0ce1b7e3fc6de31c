"""How many documents of a sample are copies of documents that a corpus has: equal texts, and near-duplicates.

Digests, band keys and sketches of the sample are in memory; those of the corpus are read shard by shard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.shared import DIGESTS, stored_numbering
from corpus_assets.dedup.signatures.bands import NO_KEY
from corpus_assets.dedup.signatures.sketches import agreeing, as_words, least_agreement
from resources.stage.partition import Partition

_KEYS, _SKETCHES = ".bands.npy", ".sketch.npy"
_BLOCK: Final = 1 << 16
"""Documents of the corpus that are looked at together."""

_MOST_ALIKE: Final = 8
"""Documents of a block with which one of the sample is compared in a band; more of them are alike."""


@dataclass(frozen=True)
class Copies:
    """Documents of a sample that are looked up, and how many have an equal or a near copy in the corpus.

    by_shard: by shard of the corpus, how many have a copy there that is removed already, and how many a near one.
    """

    looked_up: int = 0
    equal: int = 0
    near: int = 0
    by_shard: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def all(self) -> int:
        """Documents with any copy."""
        return self.equal + self.near


@dataclass(frozen=True)
class _Sample:
    """Documents of a sample. digests: (n, 32), sorted by `leading`, their first eight bytes; a text is there once.

    keys: (bands, n). sketches: (n, words), or None if candidates are not checked. least: bits of two sketches that
    agree at least. owner: how many documents have the text (n,).
    """

    leading: NDArray[np.uint64]
    digests: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    sketches: NDArray[np.uint64] | None
    least: int
    counts: NDArray[np.int64]


def copies_in(corpus: Corpus, sample: Corpus) -> Copies:
    """Looks up the documents of a sample, built up to `band_keys`, in a corpus that is built.

    Partitions that the corpus no longer has do not count, though the store may still hold them.
    """
    mine = _sample(sample)
    equal, near = np.zeros(len(mine.leading), np.bool_), np.zeros(len(mine.leading), np.bool_)
    by_shard = {}
    removed = _removed(corpus)
    for keyed in _partitions(corpus, "band_keys"):
        key = str(keyed.key)
        same, alike = _equal(mine, keyed), _near(mine, keyed, corpus.partition("minhashes", key))
        equal[same.T[0]] = near[alike.T[0]] = True
        pairs = np.concatenate([same, alike])
        again = np.unique(pairs[np.isin(pairs[:, 1], removed(key)), 0])
        others = np.setdiff1d(alike[:, 0], same[:, 0])
        by_shard[key] = int(mine.counts[again].sum()), int(mine.counts[others].sum())
    near &= ~equal
    total, copies, likely = (int(mine.counts[chosen].sum()) for chosen in (slice(None), equal, near))
    return Copies(total, copies, likely, {key: found for key, found in by_shard.items() if any(found)})


def _removed(corpus: Corpus) -> Callable[[str], NDArray[np.int64]]:
    """Returns a function that gives the rows of a shard that are removed already."""
    clusters = corpus.partition("components", None)
    if clusters is None:
        return lambda _: np.empty(0, np.int64)
    numbering, rows = stored_numbering(clusters), clusters.array("clusters.npy")

    def removed(shard: str) -> NDArray[np.int64]:
        found = numbering.block(rows, shard)
        gone: NDArray[np.int64] = found[found[:, 0] != found[:, 1], 0].astype(np.int64)
        return gone - numbering.first(shard)

    return removed


def _partitions(corpus: Corpus, asset: str) -> Iterator[Partition]:
    planner = corpus.planner()
    records = planner.records(asset)
    for key in planner.partitions(planner.graph[asset]):
        yield corpus.handle(records[key])


def _sample(sample: Corpus) -> _Sample:
    digests, keys, sketches = [], [], []
    for one in _partitions(sample, "band_keys"):
        table, rows = one.array(DIGESTS), one.array(_KEYS)
        sketched = sample.partition("minhashes", one.key)
        assert sketched is not None
        digests.append(np.array(table["digest"]))
        keys.append(rows[:, table["row"]])
        sketches.append(as_words(sketched.array(_SKETCHES)[table["row"]]))
    values = sample.settings.values
    bits, bands = values["minhash"]["sketch"], values["minhash"]["bands"]
    together = np.concatenate(digests) if digests else np.empty((0, 32), np.uint8)
    _, first, counts = np.unique(_leading(together), return_index=True, return_counts=True)
    checked = values["dedup"]["verify"] != "none"
    return _Sample(
        _leading(together[first]),
        together[first],
        (np.concatenate(keys, axis=1) if keys else np.empty((bands, 0), np.uint64))[:, first],
        (np.concatenate(sketches) if sketches else np.empty((0, bits // 64), np.uint64))[first] if checked else None,
        least_agreement(values["dedup"]["threshold"], bits) if checked else 0,
        counts,
    )


def _leading(digests: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(digests[:, :8]).view(">u8").astype(np.uint64).reshape(-1)


def _equal(mine: _Sample, keyed: Partition) -> NDArray[np.int64]:
    """Returns pairs (n, 2) of a text of the sample and the row of a shard that has it."""
    found = [_NO_PAIRS]
    table = keyed.array(DIGESTS)
    for start in range(0, len(table) if len(mine.leading) else 0, _BLOCK):
        theirs = np.array(table[start : start + _BLOCK])
        places = _places(mine.leading, _leading(theirs["digest"]))
        same = (mine.digests[places] == theirs["digest"]).all(axis=1)
        found.append(np.stack([places[same], theirs["row"][same]], axis=1).astype(np.int64))
    return np.concatenate(found)


def _places(ascending: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Returns where each value is among ascending ones, or a place with another value."""
    return np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)


def _near(mine: _Sample, keyed: Partition, sketched: Partition | None) -> NDArray[np.int64]:
    """Returns pairs (n, 2) of a document of the sample and the row of a shard that are similar by their sketches."""
    found = [_NO_PAIRS]
    rows = keyed.array(_KEYS)
    if not len(mine.leading) or not rows.shape[1]:
        return _NO_PAIRS
    assert sketched is not None
    sketches = sketched.array(_SKETCHES)
    for start in range(0, rows.shape[1], _BLOCK):
        pairs = list(_candidates(mine.keys, np.array(rows[:, start : start + _BLOCK])))
        ours, theirs = np.unique(np.concatenate(pairs), axis=0).T
        if mine.sketches is not None and len(ours):
            agree = agreeing(mine.sketches[ours], 0, as_words(sketches[start + theirs]), np.arange(len(ours)))
            ours, theirs = ours[agree >= mine.least], theirs[agree >= mine.least]
        found.append(np.stack([ours, start + theirs], axis=1))
    return np.concatenate(found)


def _candidates(mine: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> Iterator[NDArray[np.int64]]:
    """Yields pairs (k, 2) of columns with an equal key in each band."""
    for ours, keys in zip(mine, theirs, strict=True):
        wanted = np.flatnonzero(ours != NO_KEY)
        there = np.flatnonzero(np.isin(keys, ours[wanted]))
        order = there[np.argsort(keys[there], kind="stable")]
        ordered = keys[order]
        first, last = (np.searchsorted(ordered, ours[wanted], side) for side in _SIDES)
        for step in range(_MOST_ALIKE):
            more = first + step < last
            yield np.stack([wanted[more], order[first[more] + step]], axis=1)


_SIDES: Final[Sequence[Any]] = ("left", "right")
_NO_PAIRS: Final = np.empty((0, 2), dtype=np.int64)
