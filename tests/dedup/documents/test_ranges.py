from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.documents.ranges import DIGEST_BYTES, DocumentRanges, by_digest, digest_rows


@given(st.integers(0, 60), st.integers(1, 70))
def test_every_document_lies_in_one_range(total: int, count: int) -> None:
    ranges = DocumentRanges(total, count)
    spans = [ranges.span(number) for number in range(count)]
    assert [number for span in spans for number in range(*span)] == list(range(total))
    documents = np.arange(total, dtype=np.uint32)
    assert all(
        start <= document < stop
        for document, number in enumerate(ranges.of(documents).tolist())
        for start, stop in [spans[number]]
    )


def test_numbers_beyond_32_bits() -> None:
    ranges = DocumentRanges(10**11, 7)
    assert ranges.of(np.array([0, 10**11 - 1], dtype=np.uint64)).tolist() == [0, 6]
    assert ranges.span(6)[1] == 10**11


DIGESTS = st.lists(st.binary(min_size=2, max_size=2), max_size=30)


@given(DIGESTS, st.integers(1, 9), st.randoms())
def test_digests_lie_by_range_then_by_their_first_bytes_then_by_row(
    heads: list[bytes], count: int, random: np.random.Generator
) -> None:
    whole = np.array([list(head + bytes(DIGEST_BYTES - 2)) for head in heads], np.uint8).reshape(-1, DIGEST_BYTES)
    takes_part = np.array([random.random() < 0.8 for _ in heads], dtype=np.bool_)
    table, starts = by_digest(whole, takes_part, count)
    rows = sorted(np.flatnonzero(takes_part).tolist(), key=lambda row: (heads[row], row))
    assert table["row"].tolist() == rows
    assert np.array_equal(table["digest"], whole[rows])
    assert len(starts) == count + 1
    for number, (start, stop) in enumerate(pairwise(starts)):
        for row in rows[start:stop]:
            assert int.from_bytes(heads[row], "big") * count >> 16 == number


def test_rows_are_as_wide_as_the_shard_needs() -> None:
    assert digest_rows(10).itemsize == DIGEST_BYTES + 4
    assert digest_rows(1 << 32).itemsize == DIGEST_BYTES + 8
