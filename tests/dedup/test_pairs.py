import io
import tracemalloc
from collections import defaultdict
from itertools import combinations
from tempfile import TemporaryFile
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.bands import NO_KEY
from corpus_assets.dedup.components import UnionFind
from corpus_assets.dedup.pairs import TooManyDocumentsError, star_pairs
from resources.errors import CorpusError

MUCH = 1 << 30
# Equal keys, keys that differ in the first bits, in the last ones, and everywhere.
KEYS = st.lists(
    st.one_of(
        st.sampled_from([NO_KEY, 1, 2, 3, 1 << 63, (1 << 63) + 1, (1 << 64) - 1]),
        st.integers(0, (1 << 64) - 1),
    ),
    max_size=60,
)


class Spill:
    """Hands out files in memory and remembers them."""

    def __init__(self) -> None:
        self.files: list[io.BytesIO] = []

    def __call__(self) -> BinaryIO:
        self.files.append(io.BytesIO())
        return self.files[-1]


def edges(
    keys: list[int], memory: int = MUCH, cuts: tuple[int, ...] = (), spill: Spill | None = None
) -> list[list[int]]:
    shards = np.split(np.array(keys, dtype=np.uint64), sorted(cuts))
    found = list(star_pairs(shards, memory=memory, spill=spill or Spill()))
    assert all(part.dtype == np.uint32 and part.shape[1] == 2 for part in found)
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
def test_stars_close_to_the_same_clusters_as_all_pairs(keys: list[int]) -> None:
    pairs = [pair for docs in buckets(keys).values() for pair in combinations(docs, 2)]
    by_stars, by_pairs = UnionFind(len(keys)), UnionFind(len(keys))
    by_stars.add(np.array(edges(keys), dtype=np.uint32).reshape(-1, 2))
    by_pairs.add(np.array(pairs, dtype=np.uint32).reshape(-1, 2))
    for left, right in zip(by_stars.clusters(), by_pairs.clusters(), strict=True):
        assert left.tolist() == right.tolist()


@given(KEYS, st.integers(0, 3000), st.lists(st.integers(0, 60), max_size=5))
def test_result_depends_neither_on_memory_nor_on_shards(keys: list[int], memory: int, cuts: list[int]) -> None:
    spill = Spill()
    inside = tuple(cut for cut in cuts if cut <= len(keys))
    assert edges(keys, memory, inside, spill) == edges(keys)
    assert all(file.closed for file in spill.files)


def many_keys(rows: int, distinct: int) -> NDArray[np.uint64]:
    rng = np.random.default_rng(11)
    keys = rng.integers(1, (1 << 64) - 1, distinct, dtype=np.uint64)[rng.integers(0, distinct, rows)]
    keys[rng.integers(0, rows, rows // 10)] = NO_KEY
    return keys


def test_a_band_beyond_memory_gives_the_same_edges_from_real_files() -> None:
    keys = many_keys(200_000, 60_000)
    shards = np.array_split(keys, 7)
    whole = np.concatenate(list(star_pairs(shards, memory=MUCH, spill=TemporaryFile)))
    spilled = np.concatenate(list(star_pairs(shards, memory=1 << 20, spill=TemporaryFile)))
    assert np.array_equal(whole, spilled)
    assert len(whole) > 100_000


@pytest.mark.parametrize("distinct", [1, 50, 200_000], ids=["one bucket", "few buckets", "many buckets"])
def test_memory_stays_within_its_budget(distinct: int) -> None:
    keys = many_keys(400_000, distinct)
    memory = 4 << 20
    tracemalloc.start()
    try:
        total = sum(len(part) for part in star_pairs([keys], memory=memory, spill=TemporaryFile))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total > 0
    assert peak < memory


def test_within_memory_nothing_is_spilled() -> None:
    spill = Spill()
    assert edges([5, 6, 5], MUCH, spill=spill) == [[0, 2]]
    assert spill.files == []


def test_a_reader_that_stops_early_leaves_no_open_file() -> None:
    spill = Spill()
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


def test_more_documents_than_numbers() -> None:
    one = np.broadcast_to(np.uint64(NO_KEY), 1)
    rest = np.broadcast_to(np.uint64(NO_KEY), (1 << 32) - 1)
    with pytest.raises(TooManyDocumentsError, match="4294967296 documents or more; at most 4294967295"):
        list(star_pairs([one, rest], memory=MUCH, spill=Spill()))
    assert issubclass(TooManyDocumentsError, CorpusError)
