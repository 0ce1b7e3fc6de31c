"""Numbers of clusters are those that counting one document after another gives, however the blocks are cut."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.documents.numbering import Numbering

SHARDS = ("books--a", "books--b", "web--a", "notes--a")


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Numbering, list[int], list[int], dict[int, int]]:
    """A numbering, the cluster and the text of each document, and the document kept of each cluster of several."""
    numbering = Numbering.of((shard, draw(st.integers(0, 6))) for shard in SHARDS)
    texts = [draw(st.integers(0, 9)) for _ in range(numbering.total)]
    clusters = [text // 3 for text in texts]
    kept = {}
    for cluster in set(clusters):
        members = [document for document, found in enumerate(clusters) if found == cluster]
        if len(members) > 1:
            kept[cluster] = draw(st.sampled_from(members))
    return numbering, clusters, texts, kept


@given(corpora(), st.integers(1, 7))
def test_clusters_are_counted(corpus: tuple[Numbering, list[int], list[int], dict[int, int]], block: int) -> None:
    numbering, clusters, texts, kept = corpus
    firsts = [texts.index(text) for text in texts]
    pairs = [(first, document) for document, first in enumerate(firsts) if first != document]
    counted = ClusterNumbers(numbering, np.array(pairs, np.uint32).reshape(-1, 2))
    members = [document for document, cluster in enumerate(clusters) if cluster in kept]
    for start in range(0, len(members), block):
        part = members[start : start + block]
        sizes = [clusters.count(clusters[document]) for document in part]
        counted.add(*(np.array(column, np.uint32) for column in (part, [kept[clusters[d]] for d in part], sizes)))
    found = counted.statistics()
    whom, exact, near = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    for document in members:
        instead = kept[clusters[document]]
        if instead == document:
            continue
        source = numbering.sources[int(numbering.shards_of(np.array([document], np.uint32))[0])]
        whom[source, numbering.sources[int(numbering.shards_of(np.array([instead], np.uint32))[0])]] += 1
        same_text = firsts[document] != document or texts[instead] == texts[document]
        (exact if same_text else near)[source] += 1
    assert {(a, b): n for a, row in found["who_duplicates_whom"].items() for b, n in row.items()} == whom
    assert (found["removed_exact"], found["removed_near"]) == (exact, near)
    assert sum(found["cluster_sizes"].values()) == len(kept)


def test_sizes_are_counted_by_powers_of_two() -> None:
    numbering = Numbering.of([("books--a", 100)])
    counted = ClusterNumbers(numbering, np.empty((0, 2), np.uint32))
    sizes = np.array([2, 2, 3, 4, 7, 8, 15, 16, 68], np.uint32)
    firsts = np.arange(len(sizes), dtype=np.uint32)
    counted.add(firsts, firsts, sizes)
    expected = {"2": 2, "3": 1, "4-7": 2, "8-15": 2, "16-31": 1, "64-127": 1}
    assert counted.statistics()["cluster_sizes"] == expected
