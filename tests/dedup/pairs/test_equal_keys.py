import tracemalloc
from collections import defaultdict
from itertools import combinations, pairwise
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.documents.numbering import document_dtype
from corpus_assets.dedup.pairs.equal_keys import TooManyDocumentsError, equal_rows, star_pairs
from corpus_assets.dedup.signatures.bands import NO_KEY
from resources.errors import CorpusError
from tests.resources.test_spill import Files

MUCH = 1 << 30
# Equal keys, keys that differ in the first bits, in the last ones, and everywhere.
KEYS = st.lists(
    st.one_of(
        st.sampled_from([NO_KEY, 1, 2, 3, 1 << 63, (1 << 63) + 1, (1 << 64) - 1]),
        st.integers(0, (1 << 64) - 1),
    ),
    max_size=60,
)


def edges(
    keys: list[int],
    memory: int = MUCH,
    cuts: tuple[int, ...] = (),
    spill: Files | None = None,
    chain: bool = False,
    dtype: DTypeLike = np.uint32,
) -> list[list[int]]:
    shards = np.split(np.array(keys, dtype=np.uint64), sorted(cuts))
    found = list(star_pairs(shards, memory=memory, spill=spill or Files(), dtype=dtype, chain=chain))
    assert all(block.dtype == dtype and block.shape[1] == 2 for block in found)
    return np.concatenate(found).tolist() if found else []


def buckets(keys: list[int]) -> dict[int, list[int]]:
    members: dict[int, list[int]] = defaultdict(list)
    for document, key in enumerate(keys):
        if key != NO_KEY:
            members[key].append(document)
    return members


@given(KEYS)
def test_a_star_per_bucket_in_key_order(keys: list[int]) -> None:
    expected = [[docs[0], later] for _, docs in sorted(buckets(keys).items()) for later in docs[1:]]
    assert edges(keys) == expected


@given(KEYS)
def test_a_chain_adds_the_neighbours_in_the_bucket(keys: list[int]) -> None:
    expected = []
    for _, docs in sorted(buckets(keys).items()):
        for before, later in pairwise(docs):
            expected += [[docs[0], later]] + ([[before, later]] if before != docs[0] else [])
    assert edges(keys, chain=True) == expected


def test_chain_of_a_bucket() -> None:
    assert edges([7, NO_KEY, 7, 5, 7], chain=True) == [[0, 2], [0, 4], [2, 4]]


@given(KEYS)
def test_stars_close_to_the_same_clusters_as_all_pairs(keys: list[int]) -> None:
    pairs = [pair for docs in buckets(keys).values() for pair in combinations(docs, 2)]
    by_stars, by_pairs = UnionFind(len(keys)), UnionFind(len(keys))
    by_stars.add(np.array(edges(keys), dtype=np.uint32).reshape(-1, 2))
    by_pairs.add(np.array(pairs, dtype=np.uint32).reshape(-1, 2))
    everyone = np.arange(len(keys), dtype=np.uint32)
    assert by_stars.root_of(everyone).tolist() == by_pairs.root_of(everyone).tolist()


@given(KEYS, st.integers(0, 3000), st.lists(st.integers(0, 60), max_size=5), st.booleans())
def test_result_depends_neither_on_memory_nor_on_shards_nor_on_type(
    keys: list[int], memory: int, cuts: list[int], chain: bool
) -> None:
    spill = Files()
    inside = tuple(cut for cut in cuts if cut <= len(keys))
    assert edges(keys, memory, inside, spill, chain, np.uint64) == edges(keys, chain=chain)
    assert all(file.closed for file in spill.files)


WORDS = st.lists(st.tuples(*[st.sampled_from([0, 1, 1 << 62, (1 << 64) - 1])] * 3, st.booleans()), max_size=60)


@given(WORDS, st.integers(0, 3000), st.booleans())
def test_keys_of_several_words_are_compared_in_full(
    rows: list[tuple[int, int, int, bool]], memory: int, chain: bool
) -> None:
    members: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for document, (*words, takes_part) in enumerate(rows):
        if takes_part:
            members[tuple(words)].append(document)
    expected = []
    for _, docs in sorted(members.items()):
        for before, later in pairwise(docs):
            expected += [[docs[0], later]] + ([[before, later]] if chain and before != docs[0] else [])
    keys = np.array([row[:3] for row in rows], dtype=np.uint64).reshape(-1, 3)
    taking = np.array([row[3] for row in rows], dtype=np.bool_)
    numbers = np.flatnonzero(taking).astype(np.uint32)
    cuts = np.array_split(keys[taking], 3), np.array_split(numbers, 3)
    found = equal_rows(zip(*cuts, strict=True), memory=memory, spill=Files(), words=3, chain=chain)
    assert [edge for block in found for edge in block.tolist()] == expected


def many_keys(rows: int, distinct: int) -> NDArray[np.uint64]:
    rng = np.random.default_rng(11)
    keys = rng.integers(1, (1 << 64) - 1, distinct, dtype=np.uint64)[rng.integers(0, distinct, rows)]
    keys[rng.integers(0, rows, rows // 10)] = NO_KEY
    return keys


@pytest.mark.parametrize("chain", [False, True], ids=["star", "chain"])
def test_a_band_beyond_memory_gives_the_same_edges_from_real_files(chain: bool) -> None:
    keys = many_keys(200_000, 60_000)
    shards = np.array_split(keys, 7)
    whole = np.concatenate(list(star_pairs(shards, memory=MUCH, spill=TemporaryFile, chain=chain)))
    spilled = np.concatenate(list(star_pairs(shards, memory=1 << 20, spill=TemporaryFile, chain=chain)))
    assert np.array_equal(whole, spilled)
    assert len(whole) > 100_000


@pytest.mark.parametrize("memory", [1 << 20, MUCH], ids=["files", "memory"])
def test_one_key_for_a_million_documents(memory: int) -> None:
    keys = np.full(1_000_000, 9, dtype=np.uint64)
    found = np.concatenate(list(star_pairs(np.array_split(keys, 4), memory=memory, spill=TemporaryFile, chain=True)))
    later = np.arange(1, len(keys))
    assert np.array_equal(found[0], [0, 1])
    assert np.array_equal(found[1::2], np.stack([np.zeros_like(later[1:]), later[1:]], axis=1))
    assert np.array_equal(found[2::2], np.stack([later[:-1], later[1:]], axis=1))


def test_keys_that_share_all_leading_bits_but_the_last() -> None:
    keys = np.random.default_rng(2).integers(0, 1000, 100_000, dtype=np.uint64) + np.uint64(0xFEDC << 48)
    keys[0] = 1
    firsts = np.unique(keys, return_index=True, return_inverse=True)[1:]
    found = np.concatenate(list(star_pairs([keys], memory=MUCH, spill=Files())))
    later = np.setdiff1d(np.arange(len(keys)), firsts[0])
    in_document_order = found[np.argsort(found[:, 1])]
    assert np.array_equal(in_document_order, np.stack([firsts[0][firsts[1][later]], later], axis=1))


@pytest.mark.parametrize("distinct", [1, 50, 200_000], ids=["one bucket", "few buckets", "many buckets"])
@pytest.mark.parametrize("memory", [4 << 20, 40 << 20], ids=["files", "memory"])
def test_memory_stays_within_its_budget(distinct: int, memory: int) -> None:
    keys = many_keys(400_000, distinct)
    tracemalloc.start()
    try:
        found = star_pairs([keys], memory=memory, spill=TemporaryFile, chain=True)
        total = sum(len(block) for block in found)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total > 0
    assert peak < memory


def test_within_memory_nothing_is_spilled() -> None:
    spill = Files()
    assert edges([5, 6, 5], MUCH, spill=spill) == [[0, 2]]
    assert spill.files == []


def test_a_reader_that_stops_early_leaves_no_open_file() -> None:
    spill = Files()
    found = star_pairs([many_keys(5000, 100)], memory=1000, spill=spill)
    next(found)
    assert any(not file.closed for file in spill.files)
    found.close()  # type: ignore[attr-defined]
    assert spill.files
    assert all(file.closed for file in spill.files)


def test_nothing_to_pair() -> None:
    assert edges([]) == []
    assert edges([NO_KEY] * 5) == []
    assert edges([NO_KEY] * 5, memory=0) == []
    assert edges([9]) == []


def absent(rows: int) -> NDArray[np.uint64]:
    """Rows that take no part and no memory."""
    return np.broadcast_to(np.uint64(NO_KEY), rows)


def test_more_documents_than_numbers() -> None:
    found = star_pairs([absent(1 << 8), absent(1)], memory=MUCH, spill=Files(), dtype=np.uint8)
    with pytest.raises(TooManyDocumentsError, match="257 documents or more; at most 256 can be numbered"):
        list(found)
    assert issubclass(TooManyDocumentsError, CorpusError)


def test_type_of_the_numbers() -> None:
    assert document_dtype(0) == document_dtype((1 << 32) - 1) == np.uint32
    assert document_dtype(1 << 32) == np.uint64


@pytest.mark.slow
def test_numbers_beyond_32_bits() -> None:
    key = np.array([3], dtype=np.uint64)
    shards = [key, *[absent(1 << 28)] * 16, key]
    found = list(star_pairs(shards, memory=MUCH, spill=Files(), dtype=np.uint64))
    assert np.concatenate(found).tolist() == [[0, (1 << 32) + 1]]
