"""The rules that choose the kept document of a cluster: in order, then the lowest document number.

A rule maps a document to an integer, smaller is better. Clusters are read in document order, and only the best document
so far of each cluster is held.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.documents.numbering import Documents

Facts = Mapping[Rule, Callable[[Documents], NDArray[np.integer[Any]]]]
"""The values that each rule except `first` compares, for documents in ascending order: for `source` the rank of the
document's source (0 is best), for `longest` its bytes, for `newest` its creation in microseconds (unknown is the least
integer).
"""

_WORST = np.iinfo(np.int64).max
_FIRST_CAPACITY = 1 << 10


def source_ranks(configured: Sequence[str], priority: Sequence[str] = ()) -> list[int]:
    """Returns the rank of each configured source: those of `priority` in its order, then the others as configured.

    `ValueError` if `priority` names a source twice or one that is not configured.
    """
    if unknown := [source for source in priority if source not in configured]:
        raise ValueError(f"priority names source {unknown[0]!r}; valid: {', '.join(configured)}")
    if len(set(priority)) != len(priority):
        raise ValueError(f"priority names a source twice: {', '.join(priority)}")
    ranked = [*priority, *(source for source in configured if source not in set(priority))]
    return [ranked.index(source) for source in configured]


def ranks_of_documents(starts: Sequence[int], ranks: Sequence[int]) -> Callable[[Documents], NDArray[np.int64]]:
    """Returns the fact of the rule `source`, from a rank per shard; rows are numbered from `starts`, one entry more."""
    firsts, values = np.asarray(starts[1:], dtype=np.uint64), np.asarray(ranks, dtype=np.int64)
    return lambda documents: values[np.searchsorted(firsts, documents, side="right")]


def preference(members: Documents, rules: Sequence[Rule], facts: Facts) -> NDArray[np.int64]:
    """Returns one row per rule, shape (rules, n), smaller is better; rules from `first` on need none."""
    columns = np.empty((len(deciding(rules)), len(members)), dtype=np.int64)
    for column, rule in zip(columns, deciding(rules), strict=True):
        column[:] = facts[rule](members)
        if rule != "source":
            # ~x reverses the order of all 64-bit integers; -x does so for all but the least.
            np.invert(column, out=column)
    return columns


def ranking(members: Documents, rules: Sequence[Rule], facts: Facts) -> NDArray[np.int64]:
    """Returns the rank of each member of one cluster (ascending numbers), shape (n,): 0 is the document to keep."""
    order = np.lexsort((members, *preference(members, rules, facts)[::-1]))
    ranks = np.empty(len(members), dtype=np.int64)
    ranks[order] = np.arange(len(members))
    return ranks


def best(
    blocks: Iterable[tuple[Documents, Documents, Documents]], rules: Sequence[Rule], facts: Facts
) -> tuple[Documents, Documents]:
    """Returns the document to keep of each cluster, as (roots, kept): equal lengths, roots ascending.

    `blocks` are (members, roots, sizes), each member once, in ascending order through all blocks; the root of a
    cluster is its smallest member. The result does not depend on how the members are cut into blocks. Memory: the
    block, and 8 bytes per cluster for each rule, the root and the kept document.
    """
    held = _Best(len(deciding(rules)))
    dtype: np.dtype[Any] = np.dtype(np.uint32)
    for members, roots, _ in blocks:
        dtype = members.dtype
        held.open(members[members == roots])
        if held.rules and len(members):
            held.offer(members, roots, preference(members, rules, facts))
    roots = held.roots.astype(dtype)
    return roots, held.documents.astype(dtype) if held.rules else roots


def deciding(rules: Sequence[Rule]) -> Sequence[Rule]:
    """Returns the rules up to `first`, after which no other decides, without it."""
    return rules[: rules.index("first")] if "first" in rules else rules


class _Best:
    """The best document so far of each cluster: a row per rule, and a last one of document numbers."""

    def __init__(self, rules: int) -> None:
        self.rules = rules
        self._clusters = 0
        self._roots = np.empty(0, dtype=np.uint64)
        self._held = np.empty((rules + 1, 0), dtype=np.int64)

    @property
    def roots(self) -> NDArray[np.uint64]:
        return self._roots[: self._clusters]

    @property
    def documents(self) -> NDArray[np.int64]:
        return self._held[-1, : self._clusters]

    def open(self, roots: Documents) -> None:
        """Adds clusters, whose roots come after all those held."""
        total = self._clusters + len(roots)
        if total > len(self._roots):
            more = max(total, _FIRST_CAPACITY, 2 * self._clusters) - self._clusters
            self._roots = np.concatenate([self.roots, np.empty(more, dtype=np.uint64)])
            if self.rules:
                worst = np.full((self.rules + 1, more), _WORST, dtype=np.int64)
                self._held = np.concatenate([self._held[:, : self._clusters], worst], axis=1)
        self._roots[self._clusters : total] = roots
        self._clusters = total

    def offer(self, members: Documents, roots: Documents, preferences: NDArray[np.int64]) -> None:
        """Replaces the held member of each cluster if a better one is offered."""
        rows = _winners(roots, preferences)
        clusters = np.searchsorted(self.roots, roots[rows].astype(np.uint64))
        columns = [*preferences, members.astype(np.int64)]
        better, equal = np.zeros(len(rows), dtype=np.bool_), np.arange(len(rows))
        for offered, held in zip(columns, self._held, strict=True):
            new, old = offered[rows[equal]], held[clusters[equal]]
            better[equal[new < old]] = True
            equal = equal[new == old]
        rows, clusters = rows[better], clusters[better]
        for offered, held in zip(columns, self._held, strict=True):
            held[clusters] = offered[rows]


def _winners(roots: Documents, preferences: NDArray[np.int64]) -> NDArray[np.intp]:
    """Returns the position of the best row of each root, by ascending root; of equal rows the first."""
    rows = np.argsort(roots)
    in_order = roots[rows]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
    for column in preferences:
        if len(starts) == len(rows):
            break
        values = column[rows]
        least = np.minimum.reduceat(values, starts)
        is_least = values == np.repeat(least, np.diff(starts, append=len(rows)))
        starts = (np.cumsum(is_least) - is_least)[starts]
        rows = rows[is_least]
    return np.minimum.reduceat(rows, starts)
