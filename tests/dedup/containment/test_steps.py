"""The steps of containment by themselves, held against plain definitions; and inputs made to break them."""

import random
from tempfile import TemporaryFile

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.dedup.containment import holders as holders_module
from corpus_assets.dedup.containment.candidates import MOST, lacking, possible_holders
from corpus_assets.dedup.containment.holders import ALL, FEW, SEEN, Holders, Slots, holder_rows, seen_rows
from corpus_assets.dedup.containment.samples import ASKED, EVERY, RARE, range_of, rows_of_batch, sample_rows, sampled
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from corpus_assets.dedup.similarity.containment import common_shingles
from resources.formats.texts import joined
from tests.dedup.oracles import cleaned_bytes, shingles, window_hashes

NUMBERS = np.dtype(np.uint32)
WIDE = (0, 1 << 32)


def texts(count: int, words: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(f"{chosen.getrandbits(40):x}é" for _ in range(words)) for _ in range(count)]


@pytest.mark.parametrize("unit", ["char", "word"])
def test_a_sample_is_the_shingles_whose_hashes_end_in_zeros(unit: Unit) -> None:
    scheme = SignatureScheme(unit=unit, width=5)
    given = [*texts(30, 80), "", "short", "the same line again\n" * 500, "a" * 5000]
    (found,) = sampled([joined([text.encode() for text in given])], scheme)
    expected = [
        {int(one) for one in window_hashes(cleaned_bytes(text), unit, 5) if int(one) % EVERY[unit] == 0}
        for text in given
    ]
    ends = np.cumsum(found[1])
    parts = [found[0][end - size : end] for end, size in zip(ends, found[1], strict=True)]
    assert [set(part.tolist()) for part in parts] == expected
    assert all((np.diff(part.astype(object)) > 0).all() for part in parts)
    rows = rows_of_batch(*found, 7, sample_rows(100))
    assert (int(rows["row"][0]), int(rows["size"][0])) == (7, len(parts[0]))
    assert rows["slot"][:3].tolist() == [0, 1, 2]
    assert (range_of(rows["hash"], 3) == [int(one) * 3 >> 64 for one in rows["hash"]]).all()


def test_a_long_text_that_repeats_itself_fills_no_memory() -> None:
    lines = "every line is the same as the one before it, and of much the same length as this\n" * 20_000
    for text in (lines, "a" * (1 << 21)):
        (found,) = sampled([joined([text.encode()])], SignatureScheme())
        assert len(found[0]) <= len({*text}) * 10


def rows_of(given: list[tuple[int, int, int, int]]) -> NDArray[np.void]:
    """Rows of (hash, document, size, slot)."""
    rows = np.empty(len(given), holder_rows(NUMBERS))
    for name, column in zip(("hash", "document", "size", "slot"), zip(*given, strict=True), strict=True):
        rows[name] = column
    return rows


def seen(given: NDArray[np.void], memory: int = 1 << 16, cut: int = 1000) -> NDArray[np.void]:
    with Holders(len(given), WIDE, given.dtype, memory, TemporaryFile) as found:
        for start in range(0, len(given), cut):
            found.add(given[start : start + cut])
        return np.concatenate([np.empty(0, seen_rows(NUMBERS)), *found.seen()])


def test_each_document_sees_the_larger_ones_that_have_its_shingles() -> None:
    found = seen(rows_of([(1 << 40, 0, 5, 0), (1 << 40, 1, 9, 1), (1 << 40, 2, 9, 90), (1 << 41, 1, 9, 2)]))
    assert sorted(map(tuple, found["pair"].tolist())) == [(0, 1), (0, 2)]
    slots = Slots.of(found)
    assert slots.is_all.all()
    assert set(found["asked"].tolist()) == {5}


def test_a_document_looks_for_more_shingles_if_few_have_them() -> None:
    few = [(1 << 40, number, 1000 - number, RARE - 1) for number in range(FEW + 1)]
    assert len(seen(rows_of(few))) == FEW * (FEW + 1) // 2
    many = [(1 << 40, number, 1000 - number, RARE - 1) for number in range(FEW + 20)]
    assert set(seen(rows_of(many))["pair"][:, 0].tolist()) == set(range(1, FEW + 1))
    assert len(seen(rows_of([(1 << 40, number, 9, RARE) for number in range(5)]))) == 0


def test_of_many_it_sees_the_largest_and_the_next_larger_ones() -> None:
    found = seen(rows_of([(1 << 40, number, 1000 - number, 0) for number in range(100)]))
    for number in (0, 3, ALL, ALL + 1, 99):
        own = found[found["pair"][:, 0] == number]
        others = sorted(own["pair"][:, 1].tolist())
        half = SEEN // 2
        expected = list(range(number)) if number <= ALL else [*range(half), *range(number - half, number)]
        assert others == expected
        assert Slots.of(own).is_all.all() == (number <= ALL)


def test_what_is_seen_depends_on_neither_memory_nor_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(3)
    given = [
        (chosen.choice([1, 2, chosen.getrandbits(20)]) << 40, number, chosen.randint(3, 90), chosen.randint(0, 80))
        for number in range(12_000)
    ]
    rows = rows_of(given)
    whole = seen(rows, 1 << 26, 1 << 20)
    for memory, cut in ((1 << 12, 77), (1 << 20, 5000)):
        assert (seen(rows, memory, cut) == whole).all()
    monkeypatch.setattr(holders_module, "_AT_ONCE", 1000)
    streamed = [seen(rows, memory, cut) for memory, cut in ((1 << 12, 77), (1 << 22, 5000))]
    assert (streamed[0] == streamed[1]).all()
    pairs = [{*map(tuple, found["pair"].tolist())} for found in (whole, streamed[0])]
    assert pairs[0] == pairs[1]


def test_a_shingle_of_all_documents_gives_each_no_more_pairs_than_a_rare_one() -> None:
    count = 300_000
    rows = np.zeros(count, holder_rows(NUMBERS))
    rows["hash"], rows["document"], rows["size"] = 1 << 40, np.arange(count), 50
    found = seen(rows, 1 << 22, 1 << 16)
    assert len(found) <= SEEN * count + ALL * ALL
    assert np.bincount(found["pair"][:, 0])[ALL + 1 :].tolist() == [SEEN] * (count - ALL - 1)


def asking(document: int, others: dict[int, list[int]], asked: int, hidden: bool = False) -> list[tuple[int, ...]]:
    """Rows of a document that sees others for some of its shingles."""
    return [(document, other, slot + 128 * hidden, asked) for other, slots in others.items() for slot in slots]


def as_seen(given: list[tuple[int, ...]]) -> NDArray[np.void]:
    rows = np.empty(len(given), seen_rows(NUMBERS))
    for place, (document, other, slot, asked) in enumerate(given):
        rows[place] = ((document, other), slot, asked)
    return rows


def test_only_documents_that_have_most_of_the_shingles_are_compared() -> None:
    every = list(range(ASKED))
    rows = as_seen(asking(1, {5: every, 6: every[: ASKED // 2], 7: every[:1]}, ASKED))
    pairs, more = possible_holders(rows, 0.95)
    assert (pairs.tolist(), more) == ([[1, 5]], 0)


def test_others_than_those_seen_may_have_a_shingle() -> None:
    rows = as_seen(asking(1, {5: [0, 1], 6: [2, 3]}, 4, hidden=True))
    assert possible_holders(rows, 1.0)[0].tolist() == [[1, 5], [1, 6]]
    rows = as_seen(asking(1, {5: [0, 1], 6: [2, 3]}, 4))
    assert possible_holders(rows, 1.0)[0].tolist() == []


def test_a_document_is_compared_with_a_bounded_number_and_the_others_are_counted() -> None:
    rows = as_seen(asking(1, {number: [0] for number in range(10, 10 + 3 * MOST)}, 1, hidden=True))
    pairs, more = possible_holders(rows, 0.95)
    assert (len(pairs), more) == (MOST, 2 * MOST)


def test_how_many_shingles_may_be_missing_by_chance() -> None:
    assert lacking(1.0).tolist() == [0] * (ASKED + 1)
    assert lacking(0.5)[:3].tolist() == [0, 0, 1], "one is there"
    for contained in (0.95, 0.8, 0.5):
        chosen = np.random.default_rng(1).random((200_000, ASKED)) >= contained
        for asked in (16, 24, ASKED):
            missed = (chosen[:, :asked].sum(axis=1) > lacking(contained)[asked]).mean()
            assert missed <= 2e-4


@pytest.mark.parametrize("memory", [1 << 12, 1 << 14, 1 << 26])
@pytest.mark.parametrize("unit", ["char", "word"])
def test_common_shingles_are_those_of_the_sets_with_any_memory(unit: Unit, memory: int) -> None:
    scheme = SignatureScheme(unit=unit, width=4)
    pages = texts(4, 60, 9)
    given = [*pages, pages[0] + pages[1], " ".join(pages[0].split()[:9]), "no", "a" * 3000, "a" * 7]
    sets = [shingles(text, scheme) for text in given]
    pairs = np.array([(a, b) for b in range(len(given)) for a in range(len(given)) if a != b], dtype=np.uint32)
    (found,) = common_shingles([pairs], enumerate(given), scheme, memory=memory, spill=TemporaryFile)
    assert found.common.tolist() == [len(sets[a] & sets[b]) for a, b in pairs.tolist()]
    assert found.sizes.tolist() == [[len(sets[a]), len(sets[b])] for a, b in pairs.tolist()]
