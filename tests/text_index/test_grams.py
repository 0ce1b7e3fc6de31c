"""The table of bits knows every block that holds a phrase, and leaves out nearly all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.text_index import grams
from corpus_assets.text_index.grams import BLOCK_BYTES, block_starts, counted, may_hold, rows_for, tables
from tests.build.small import prose

TEXTS = st.lists(st.binary(max_size=80), max_size=40)


def table_of(blocks: list[bytes], rows: int = 256) -> np.ndarray:
    made = list(tables(iter(blocks), len(blocks), rows))
    return np.concatenate(made) if made else np.empty((0, 1), np.uint8)


@given(TEXTS, st.data())
def test_no_block_with_the_phrase_is_left_out(blocks: list[bytes], data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(blocks)) if blocks else b"something else"
    start = data.draw(st.integers(0, max(0, len(of) - 1)))
    phrase = of[start : data.draw(st.integers(start, len(of)))]
    found = may_hold(table_of(blocks), len(blocks), phrase)
    if found is not None:
        assert len(found) == len(blocks)
        assert all(likely for likely, block in zip(found.tolist(), blocks, strict=True) if phrase in block)


def test_blocks_beyond_one_table_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grams, "SLAB", 8)
    blocks = [prose(number, 30).encode() for number in range(29)]
    table = table_of(blocks, 4096)
    assert table.shape == (4 * 4096, 1)
    for number, block in enumerate(blocks):
        found = may_hold(table, len(blocks), block[20:80])
        assert found is not None
        assert np.flatnonzero(found).tolist() == [number]


def test_two_fifths_of_a_table_are_set_so_that_few_blocks_are_looked_at_in_vain() -> None:
    texts = [" ".join(prose(f"{number} {part}", 50) for part in range(150)).encode() for number in range(8)]
    rows = rows_for(sum(map(len, texts)), len(texts))
    table = table_of(texts, rows)
    assert 0.1 < np.unpackbits(table).mean() < 0.5
    vain = [may_hold(table, 8, prose(f"nowhere {number}", 6)[:40].encode()) for number in range(50)]
    assert sum(int(found.sum()) for found in vain if found is not None) < 8


def test_a_short_phrase_says_nothing() -> None:
    assert may_hold(table_of([b"a text of some length"]), 1, b"text") is None
    assert len(counted(b"text", 256)) == 0


@given(st.binary(min_size=9, max_size=60), st.binary(max_size=9), st.binary(max_size=9))
def test_what_is_counted_of_a_phrase_is_counted_of_every_text_around_it(phrase: bytes, a: bytes, b: bytes) -> None:
    assert len(counted(phrase, 1 << 14)) >= 1
    assert set(counted(phrase, 1 << 14).tolist()) <= set(counted(a + phrase + b, 1 << 14).tolist())


def test_of_two_neighbouring_runs_one_is_counted() -> None:
    text = prose(3, 40).encode()[:200]
    pairs = [counted(text[start : start + 9], 1 << 14).tolist() for start in range(len(text) - 8)]
    assert all(len(rows) == 1 for rows in pairs)
    assert sorted({row for rows in pairs for row in rows}) == counted(text, 1 << 14).tolist()


@given(st.lists(st.integers(0, 3 * BLOCK_BYTES), max_size=60))
def test_blocks_end_with_the_document_that_fills_them(sizes: list[int]) -> None:
    starts = block_starts(np.array(sizes, np.uint32)).tolist()
    assert starts[:1] == ([0] if sizes else [])
    for first, end in zip(starts, [*starts[1:], len(sizes)][: len(starts)], strict=True):
        assert sum(sizes[first : end - 1]) < BLOCK_BYTES
        assert end == len(sizes) or sum(sizes[first:end]) >= BLOCK_BYTES
