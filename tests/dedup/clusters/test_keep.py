from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.clusters.keep import Facts, best, ranking, ranks_of_documents, source_ranks
from corpus_assets.dedup.clusters.union_find import UnionFind

UNKNOWN = -(2**63)
DOCUMENTS = 24
RULES = st.lists(st.sampled_from(["source", "longest", "newest", "first"]), min_size=1, max_size=4, unique=True)
COLUMN = st.lists(st.integers(0, 3), min_size=DOCUMENTS, max_size=DOCUMENTS)
CREATED = st.lists(st.sampled_from([UNKNOWN, -1, 0, 2**63 - 1]), min_size=DOCUMENTS, max_size=DOCUMENTS)
LABELS = st.lists(st.integers(0, 6), min_size=DOCUMENTS, max_size=DOCUMENTS)


def facts(source: Sequence[int], size: Sequence[int], created: Sequence[int]) -> Facts:
    sources, sizes = np.array(source, dtype=np.int64), np.array(size, dtype=np.uint32)
    times = np.array(created, dtype=np.int64)
    return {
        "source": lambda members: sources[members],
        "longest": lambda members: sizes[members],
        "newest": lambda members: times[members],
    }


def by_definition(members: list[int], rules: Sequence[Rule], *columns: Sequence[int]) -> int:
    source, size, created = columns

    def preferred(document: int) -> tuple[int, ...]:
        of_rule = {"source": source[document], "longest": -size[document], "newest": -created[document]}
        return (*(of_rule.get(rule, document) for rule in rules), document)

    return min(members, key=preferred)


def blocks(labels: list[int], size: int, dtype: Any = np.uint32) -> Iterator[tuple[NDArray[Any], ...]]:
    """Members, roots and sizes of the clusters of two or more, in blocks."""
    first = {label: labels.index(label) for label in labels}
    rows = [(document, first[label], labels.count(label)) for document, label in enumerate(labels)]
    table = np.array([row for row in rows if row[2] > 1], dtype=dtype).reshape(-1, 3)
    for start in range(0, len(table), size):
        yield tuple(table[start : start + size].T)


@given(LABELS, RULES, COLUMN, COLUMN, CREATED, st.integers(1, DOCUMENTS))
def test_the_best_by_the_rules_is_kept(
    labels: list[int], rules: list[Rule], source: list[int], size: list[int], created: list[int], block: int
) -> None:
    known = facts(source, size, created)
    roots, kept = best(blocks(labels, block), rules, known)  # type: ignore[arg-type]
    clusters = [[d for d, other in enumerate(labels) if other == label] for label in dict.fromkeys(labels)]
    clusters = [members for members in clusters if len(members) > 1]
    assert roots.tolist() == [members[0] for members in clusters]
    assert kept.tolist() == [by_definition(members, rules, source, size, created) for members in clusters]
    for members, leader in zip(clusters, kept.tolist(), strict=True):
        numbers = np.array(members, dtype=np.uint32)
        ranks = ranking(numbers, rules, known)
        assert sorted(ranks.tolist()) == list(range(len(members)))
        assert numbers[ranks == 0].tolist() == [leader]


def test_first_looks_at_nothing_else() -> None:
    roots, kept = best(blocks([0, 1, 0, 1], 3), ["first", "longest"], {})  # type: ignore[arg-type]
    assert roots.tolist() == kept.tolist() == [0, 1]


def test_no_clusters() -> None:
    for rules in (["first"], ["longest"]):
        roots, kept = best(iter(()), rules, facts([], [], []))  # type: ignore[arg-type]
        assert len(roots) == len(kept) == 0


def test_document_numbers_beyond_32_bits() -> None:
    members = np.array([2**32, 2**40, 2**40 + 1], dtype=np.uint64)
    roots = np.array([2**32, 2**40, 2**32], dtype=np.uint64)
    known: Facts = {"longest": lambda documents: (documents % 2).astype(np.uint32)}
    found, kept = best([(members, roots, roots)], ["longest"], known)
    assert found.dtype == kept.dtype == np.uint64
    assert kept.tolist() == [2**40 + 1, 2**40]


def test_a_document_without_a_date_is_older_than_all_others() -> None:
    known = facts([0] * 3, [1] * 3, [UNKNOWN, -(2**62), UNKNOWN])
    assert best(blocks([0, 0, 0], 1), ["newest"], known)[1].tolist() == [1]  # type: ignore[arg-type]
    known = facts([0] * 3, [1] * 3, [UNKNOWN] * 3)
    assert best(blocks([0, 0, 0], 1), ["newest"], known)[1].tolist() == [0]  # type: ignore[arg-type]


def test_a_hundred_thousand_clusters_from_union_find() -> None:
    n, rng = 300_000, np.random.default_rng(5)
    sets = UnionFind(n)
    sets.add(np.stack([rng.integers(0, n, n // 2), rng.integers(0, n, n // 2)], axis=1).astype(np.uint32))
    size = rng.integers(0, 50, n)
    members, labels = (np.concatenate(column) for column in zip(*[b[:2] for b in sets.clusters(1 << 12)], strict=True))
    order = np.lexsort((members, -size[members], labels))
    expected = np.unique(labels[order], return_index=True)
    roots, kept = best(sets.clusters(1 << 12), ["longest"], {"longest": lambda documents: size[documents]})
    assert roots.tolist() == expected[0].tolist()
    assert kept.tolist() == members[order][expected[1]].tolist()


def test_priority_of_sources() -> None:
    configured = ["web", "books", "wiki", "code"]
    assert source_ranks(configured) == [0, 1, 2, 3]
    assert source_ranks(configured, ["wiki", "books"]) == [2, 1, 0, 3]
    with pytest.raises(ValueError, match="priority names source 'news'; valid: web, books"):
        source_ranks(configured, ["news"])
    with pytest.raises(ValueError, match="twice"):
        source_ranks(configured, ["wiki", "wiki"])


def test_ranks_of_documents_by_shard() -> None:
    ranks = ranks_of_documents([0, 3, 3, 5], [7, 8, 9])
    assert ranks(np.arange(5, dtype=np.uint32)).tolist() == [7, 7, 7, 9, 9]
