"""Exact epochs, places that depend on nothing but the document, and order within any memory."""

import hashlib
import io
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.mix.repeat import copies
from corpus_assets.mix.scatter import Kept, Placed, scatter
from corpus_assets.mix.shuffle import MAX_BUCKETS, in_order, keyed_order, memory_of, slimpajama_order

MANY = [f"document {number}" for number in range(20_000)]
IDS = st.lists(st.text(max_size=8), unique=True, max_size=30)
LINES = st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"") + b"\n"), max_size=60)


def rows(ids: Sequence[str]) -> list[Kept]:
    named = [name.encode("unicode_escape").hex() for name in ids]
    lines = [b'{"id":"%s","text":"t"}\n' % name.encode() for name in named]
    return [Kept(name, line, hashlib.sha256(line).digest(), len(line)) for name, line in zip(named, lines, strict=True)]


def place(ids: Sequence[str], epochs: float = 1.0, seed: int = 0, chunks: int = 4, source: str = "s") -> list[Placed]:
    return list(scatter(rows(ids), source=source, epochs=epochs, seed=seed, chunks=chunks))


@pytest.mark.parametrize("epochs", [0.0, 1.0, 3.0, 1000.0])
def test_whole_epochs_use_every_document_as_often(epochs: float) -> None:
    assert {copies(epochs, 7, "s", name) for name in MANY[:2000]} == {int(epochs)}


@pytest.mark.parametrize("epochs", [0.25, 0.5, 1.01, 2.5, 4.9])
def test_broken_epochs_are_whole_ones_and_a_share(epochs: float) -> None:
    used = Counter(copies(epochs, 7, "s", name) for name in MANY)
    whole = int(epochs)
    assert set(used) <= {whole, whole + 1}
    deviation = (len(MANY) * (epochs - whole) * (whole + 1 - epochs)) ** 0.5
    assert abs(used[whole + 1] - (epochs - whole) * len(MANY)) < 4 * deviation


@given(
    st.floats(0, 50, allow_nan=False), st.floats(0, 50, allow_nan=False), st.integers(0, 2**63 - 1), st.text(max_size=9)
)
def test_more_epochs_never_use_a_document_less(left: float, right: float, seed: int, name: str) -> None:
    low, high = sorted((left, right))
    assert copies(low, seed, "s", name) <= copies(high, seed, "s", name)


def test_copies_of_another_seed_or_source_are_other_ones() -> None:
    def half(seed: int, source: str) -> list[int]:
        return [copies(0.5, seed, source, name) for name in MANY[:200]]

    assert half(0, "s") != half(1, "s")
    assert half(0, "s") != half(0, "t")
    assert half(0, "s") == half(0, "s")


@given(ids=IDS, epochs=st.floats(0, 4), chunks=st.integers(1, 9), seed=st.integers(0, 2**63 - 1))
def test_scatter_uses_every_row_as_often_as_its_copies(ids: list[str], epochs: float, chunks: int, seed: int) -> None:
    placed = place(ids, epochs, seed, chunks)
    uses = Counter(use.line for use in placed)
    expected = {kept.line: copies(epochs, seed, "s", kept.id) for kept in rows(ids)}
    assert uses == {line: count for line, count in expected.items() if count}
    assert all(0 <= use.chunk < chunks for use in placed)
    assert all(sorted(u.copy for u in placed if u.line == line) == list(range(count)) for line, count in uses.items())
    assert {(use.line, use.digest, use.size) for use in placed} <= {
        (kept.line, kept.digest, kept.size) for kept in rows(ids)
    }


@given(ids=IDS, more=IDS, chunks=st.integers(1, 9))
def test_other_documents_never_move_a_document(ids: list[str], more: list[str], chunks: int) -> None:
    """Chunk, order and copies of the old documents are the same with new ones around them."""
    old = place(ids, 1.5, chunks=chunks)
    both = place([*more, *ids], 1.5, chunks=chunks)
    lines = {row.line for row in rows(ids)} - {row.line for row in rows(more)}
    assert [use for use in both if use.line in lines] == [use for use in old if use.line in lines]
    for chunk in range(chunks):
        before = arranged([use for use in old if use.chunk == chunk and use.line in lines])
        after = arranged([use for use in both if use.chunk == chunk])
        assert [use for use in after if use.line in lines] == before


def arranged(placed: list[Placed]) -> list[Placed]:
    order = np.array([use.order for use in placed], dtype=np.uint64)
    copy = np.array([use.copy for use in placed], dtype=np.uint32)
    return [placed[position] for position in keyed_order(order, copy)]


def test_chunks_are_of_like_size_and_copies_go_their_own_ways() -> None:
    placed = place(MANY[:8000], 2.0, chunks=8)
    sizes = Counter(use.chunk for use in placed)
    assert all(abs(size - 2000) < 4 * (16_000 / 8 * 7 / 8) ** 0.5 for size in sizes.values())
    first, second = ([use.chunk for use in placed if use.copy == copy] for copy in (0, 1))
    together = sum(a == b for a, b in zip(first, second, strict=True))
    assert abs(together - 1000) < 4 * (8000 / 8 * 7 / 8) ** 0.5


def test_keyed_order_of_ties() -> None:
    order = np.array([5, 3, 5, 3, 5], dtype=np.uint64)
    copy = np.array([1, 0, 0, 0, 1], dtype=np.uint32)
    assert keyed_order(order, copy).tolist() == [1, 3, 2, 0, 4]
    assert keyed_order(order[:0], copy[:0]).tolist() == []


def test_keyed_order_of_the_largest_hashes() -> None:
    order = np.array([2**64 - 1, 0, 2**63, 2**63 - 1], dtype=np.uint64)
    assert keyed_order(order, np.zeros(4, dtype=np.uint32)).tolist() == [1, 3, 2, 0]


@given(st.integers(0, 500), st.integers(0, 2**32))
def test_slimpajama_order_is_a_shuffle_with_the_global_generator(count: int, seed: int) -> None:
    expected = list(range(count))
    random.seed(seed)
    random.shuffle(expected)
    assert slimpajama_order(count, seed).tolist() == expected


def test_many_buckets_never_open_many_files() -> None:
    lines = [b"%d\n" % number for number in range(1000)]
    order = np.array(random.Random(1).sample(range(1000), 1000), dtype=np.int64)
    files: list[io.BytesIO] = []

    def spill() -> io.BytesIO:
        files.append(io.BytesIO())
        assert sum(not file.closed for file in files) <= 2 * MAX_BUCKETS
        return files[-1]

    written = list(in_order(iter(lines), order, sum(map(len, lines)), 1, spill))
    assert written == [lines[position] for position in order]
    assert len(files) > MAX_BUCKETS


def test_slimpajama_order_leaves_the_global_generator_alone() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    slimpajama_order(100, 42)
    assert random.random() == expected


@given(LINES, st.randoms(use_true_random=False), st.integers(1, 4000))
@settings(max_examples=50)
def test_the_order_written_does_not_depend_on_memory(lines: list[bytes], chance: random.Random, memory: int) -> None:
    order = np.array(chance.sample(range(len(lines)), len(lines)), dtype=np.int64)
    expected = [lines[position] for position in order]
    files: list[io.BytesIO] = []

    def spill() -> io.BytesIO:
        files.append(io.BytesIO())
        return files[-1]

    size = sum(map(len, lines))
    assert list(in_order(iter(lines), order, size, memory, spill)) == expected
    assert bool(files) == (len(lines) > 1 and memory_of(size, len(lines)) > memory)
    assert list(in_order(iter(lines), order, size, 1 << 30, spill)) == expected
