import tracemalloc
from tempfile import TemporaryFile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.compare import common
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from corpus_assets.dedup.signatures.shingles import cleaned_bytes, shingle_hashes
from corpus_assets.dedup.similarity import jaccard as check
from corpus_assets.dedup.similarity.jaccard import (
    exact_similarities,
    occurring,
    perhaps_occurring,
    pieces,
    wanted,
)
from tests.dedup import oracles
from tests.resources.test_spill import Files

MUCH = 1 << 28
# Few letters, so that texts share shingles; one to four bytes, capitals, punctuation and spaces.
LETTERS = st.text(alphabet="aBß語😀.  ", max_size=60)
SCHEMES = st.builds(SignatureScheme, width=st.integers(1, 6), unit=st.sampled_from(["char", "word"]))


def jaccard(left: str, right: str, scheme: SignatureScheme) -> float:
    a, b = oracles.shingles(left, scheme), oracles.shingles(right, scheme)
    return len(a & b) / len(a | b) if a | b else 0.0


def every_pair(total: int) -> NDArray[np.uint32]:
    return np.array([(a, b) for b in range(total) for a in range(b)], dtype=np.uint32).reshape(-1, 2)


def similarities(pairs: NDArray[np.uint32], texts: list[str], scheme: SignatureScheme, memory: int) -> list[float]:
    files = Files()
    found = list(exact_similarities([pairs], enumerate(texts), scheme, memory=memory, spill=files))
    assert [pair for block, _ in found for pair in block.tolist()] == pairs.tolist()
    assert all(file.closed for file in files.files)
    return [value for _, values in found for value in values.tolist()]


@settings(deadline=None)
@example(
    ["the quick brown fox jumps over the lazy dog", "the quick brown fox jumped over the lazy dog", "fox"],
    SignatureScheme(),
    2000,
)
@given(st.lists(LETTERS, max_size=6), SCHEMES, st.integers(2000, 40_000))
def test_as_python_sets_have_it_whatever_the_memory(texts: list[str], scheme: SignatureScheme, memory: int) -> None:
    pairs = every_pair(len(texts))
    expected = [jaccard(texts[a], texts[b], scheme) for a, b in pairs.tolist()]
    assert similarities(pairs, texts, scheme, MUCH) == expected
    assert similarities(pairs, texts, scheme, memory) == expected


HASHES = st.sets(st.one_of(st.integers(0, 9), st.integers(0, (1 << 64) - 1)))


@given(HASHES, HASHES)
def test_common_members_of_sorted_sets(left: set[int], right: set[int]) -> None:
    arrays = (np.array(sorted(members), dtype=np.uint64) for members in (left, right))
    assert common(*arrays) == len(left & right)


def test_documents_without_a_shingle_resemble_nothing() -> None:
    assert similarities(every_pair(3), ["", "too short", "..."], SignatureScheme(), MUCH) == [0.0, 0.0, 0.0]


def varied(words: int, seed: int) -> str:
    return " ".join(f"word{number}é" for number in np.random.default_rng(seed).integers(0, words, words))


def test_a_set_beyond_memory_is_compared_in_parts() -> None:
    text = varied(8000, 1)
    texts = [text, text[: len(text) * 9 // 10] + varied(800, 2), "a" * 80_000, varied(300, 3)]
    pairs = every_pair(len(texts))
    expected = [jaccard(texts[a], texts[b], SignatureScheme()) for a, b in pairs.tolist()]
    memory = 1 << 19
    numbered = list(enumerate(texts))
    tracemalloc.start()
    try:
        found = list(exact_similarities([pairs], numbered, SignatureScheme(), memory=memory, spill=TemporaryFile))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0][1].tolist() == expected
    # Cleaning and both texts of a pair come on top of the sets.
    assert peak < memory + 4 * len(text.encode())


def test_sets_are_kept_within_memory() -> None:
    texts = [varied(500, seed) for seed in range(150)]
    pairs = np.array([[0, later] for later in range(1, 150)], dtype=np.uint32)
    memory = 2 << 20
    tracemalloc.start()
    try:
        exact = exact_similarities([pairs], enumerate(texts), SignatureScheme(), memory=memory, spill=TemporaryFile)
        count = sum(len(values) for _, values in exact)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == len(pairs)
    assert peak < memory


def test_each_set_is_made_once_when_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(cleaned: bytes, scheme: SignatureScheme) -> NDArray[np.uint64]:
        made.append(cleaned)
        return shingle_hashes(cleaned, scheme)

    monkeypatch.setattr(check, "shingle_hashes", counted)
    similarities(every_pair(12), [varied(50, seed) for seed in range(12)], SignatureScheme(), MUCH)
    assert len(made) == 12


def test_texts_that_are_missing_or_out_of_order() -> None:
    pairs = np.array([[0, 7]], dtype=np.uint32)
    for texts in ([(0, "a")], [(0, "a"), (8, "b")], []):
        with pytest.raises(ValueError, match=r"document [07] is in a pair, but its text was not given"):
            list(exact_similarities([pairs], texts, SignatureScheme(), memory=MUCH, spill=Files()))
    with pytest.raises(ValueError, match="text of document 7 after that of 7"):
        list(exact_similarities([pairs], [(7, "a"), (7, "b")], SignatureScheme(), memory=MUCH, spill=Files()))


@given(LETTERS, SCHEMES, st.integers(1, 40))
def test_pieces_hold_just_the_shingles_of_the_whole(text: str, scheme: SignatureScheme, size: int) -> None:
    unit: Unit = scheme.unit
    cleaned = cleaned_bytes(text)
    found: set[int] = set()
    for piece in pieces(cleaned, size, unit, scheme.width):
        piece.decode("utf-8", "surrogatepass")
        found |= set(shingle_hashes(piece, scheme).tolist())
    assert found == set(shingle_hashes(cleaned, scheme).tolist())


@given(st.integers(2, 200), st.data())
def test_wanted_documents_are_those_that_occur(total: int, data: st.DataObject) -> None:
    numbers = st.integers(0, total - 1)
    pairs = data.draw(st.lists(st.tuples(numbers, numbers), max_size=50))
    rows = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    bitmap = wanted([rows[:5], rows[5:]], total)
    assert bitmap.nbytes == (total + 7) // 8
    occur = {number for pair in pairs for number in pair}
    start = data.draw(st.integers(0, total))
    stop = data.draw(st.integers(start, total))
    assert occurring(bitmap, start, stop).tolist() == [number in occur for number in range(start, stop)]


@given(sizes=st.lists(st.integers(0, 20), max_size=12), chosen=st.sets(st.integers(0, 239), max_size=4))
def test_no_group_with_a_wanted_document_is_left_out(sizes: list[int], chosen: set[int]) -> None:
    starts = np.cumsum([0, *sizes]).tolist()
    documents = [number for number in chosen if number < starts[-1]]
    bitmap = wanted([np.array([[number, number]], dtype=np.uint32) for number in documents], starts[-1])
    found = perhaps_occurring(bitmap, starts)
    assert len(found) == len(sizes)
    for perhaps, start, stop in zip(found.tolist(), starts, starts[1:], strict=False):
        assert perhaps or not occurring(bitmap, start, stop).any()
        if not any(start // 8 * 8 <= number < -(-stop // 8) * 8 for number in documents) and stop > start:
            assert not perhaps


def test_wanted_documents_exist() -> None:
    with pytest.raises(ValueError, match="document 9; there are 9"):
        wanted([np.array([[1, 9]], dtype=np.uint64)], 9)
