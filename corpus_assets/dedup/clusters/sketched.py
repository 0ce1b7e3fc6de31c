"""The sketches of the documents of many clusters, which are read for several clusters at once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents
from corpus_assets.dedup.signatures.sketches import Sketches

_DOCUMENTS_AT_ONCE = 1 << 16
"""Documents of several clusters whose sketches are read together."""


class Cluster(Protocol):
    """Some documents, each once."""

    @property
    def members(self) -> Documents:
        """Their numbers, in any order."""
        ...


C = TypeVar("C", bound=Cluster)


def sketched(clusters: Iterable[C], sketches: Column) -> Iterator[tuple[C, Sketches]]:
    """Yields each cluster with the sketches of its members, shape (n, bits / 8), in their order."""
    for batch in _batches(clusters):
        yield from _with_sketches(batch, sketches)


def _batches(clusters: Iterable[C]) -> Iterator[list[C]]:
    """Yields groups of whole clusters in order, of at most `_DOCUMENTS_AT_ONCE` documents; a larger cluster alone."""
    batch, documents = list[C](), 0
    for cluster in clusters:
        if batch and documents + len(cluster.members) > _DOCUMENTS_AT_ONCE:
            yield batch
            batch, documents = [], 0
        batch.append(cluster)
        documents += len(cluster.members)
    if batch:
        yield batch


def _with_sketches(batch: Sequence[C], sketches: Column) -> Iterator[tuple[C, Sketches]]:
    """Yields the clusters of a batch with their sketches, which are read in one pass over the shards."""
    documents = np.sort(np.concatenate([cluster.members for cluster in batch]))
    held = sketches.take(documents)
    for cluster in batch:
        yield cluster, held[np.searchsorted(documents, cluster.members)]
