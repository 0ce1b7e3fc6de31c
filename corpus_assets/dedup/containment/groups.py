"""The groups of documents of which one is kept, from all pairs that are stored: equal, similar and contained ones."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.clusters.keep import Facts
from corpus_assets.dedup.clusters.resolve import Settled
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.containment.rejoin import Holding, rejoin
from corpus_assets.dedup.containment.settle import Relations, settle
from corpus_assets.dedup.containment.shared import PAIRS, SHARES
from corpus_assets.dedup.documents.numbering import Edges, Numbering
from corpus_assets.dedup.shared import blocks_of
from resources.stage.partition import Partition

Blocks = Callable[[], Iterator[Edges]]


def groups_with_contained(
    numbering: Numbering,
    *,
    keep: tuple[Sequence[Rule], Facts],
    equal: Blocks,
    similar: Sequence[Blocks],
    contained: Sequence[Partition],
    holding: Holding,
) -> tuple[Settled, NDArray[np.void]]:
    """Returns the groups, and the documents that went because the kept one holds them (`held_rows`).

    keep: `dedup.keep`, and what its rules compare. equal: pairs of documents with one text. similar: pairs of documents
    that may go for each other. contained: the partitions of `contained_pairs`.
    """

    def alike() -> Iterator[Edges]:
        return (block for blocks in similar for block in blocks())

    relations = Relations(equal, alike, lambda: _held(contained))
    sets = UnionFind(numbering.total)
    for edges in relations.joined():
        sets.add(edges)
    settled = Settled(sets, *keep)
    decided = settle(settled, relations, holding.memory, holding.spill)
    rejoin(decided, settled, relations, holding)
    settled.move(decided.members, decided.kept, decided.sizes())
    return settled, decided.held()


def kept_pairs(settled: Settled) -> Iterator[Edges]:
    """Yields (document, the one that is kept in its place) of all that go."""
    for members, kept, _ in settled.blocks():
        gone = members != kept
        yield np.stack([members[gone], kept[gone]], axis=1)


def _held(partitions: Sequence[Partition]) -> Iterator[tuple[Edges, NDArray[np.uint32]]]:
    for found in partitions:
        edges, shares = blocks_of(found.array(PAIRS)), blocks_of(found.array(SHARES))
        yield from zip(edges, shares, strict=True)
