"""Parts, spans and hashes are those of the plain definition; what was seen is, in any memory."""

import io
from collections.abc import Hashable
from itertools import islice
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus_assets.attributes.dedupers.distinct import RANGES, Distinct
from corpus_assets.attributes.dedupers.first_seen import SeenHashes, SeenInFilter
from corpus_assets.attributes.dedupers.parts import parts_of
from corpus_assets.attributes.dedupers.subjects import blocks
from corpus_assets.config.selection.dedupers import Bloom, Deduper
from resources.errors import ConfigError
from resources.formats.documents import Document
from tests.attributes.dedupers.plain import pieces, words

PIECES = st.lists(
    st.sampled_from(["a", "b", "c d", " ", "\n", "\n\n", ", ", "é", "א״ב", "🇩🇪", "x.y", "\u2003", "\r\n", "一二"])
)
TEXTS = st.one_of(PIECES.map("".join), st.text())
RULES: list[dict[str, Any]] = [
    {"by": "text"},
    {"by": "text", "skip_empty": False, "min_length": 2},
    {"by": "text", "min_words": 2},
    {"by": "paragraphs"},
    {"by": "paragraphs", "separator": "\n\n", "skip_empty": False},
    {"by": "paragraphs", "separator": "aa", "min_words": 2},
    {"by": "paragraphs", "min_length": 3},
    {"by": "ngrams", "ngram": {"length": 1}},
    {"by": "ngrams", "ngram": {"length": 2, "stride": 2}},
    {"by": "ngrams", "ngram": {"length": 3, "stride": 2, "skip_short": True}, "min_words": 2},
]


def rule_of(values: dict[str, Any]) -> Deduper:
    return Deduper.model_validate({"name": "tested", **values})


@pytest.mark.parametrize("values", RULES, ids=str)
@settings(max_examples=40)
@given(texts=st.lists(TEXTS, max_size=5), size=st.integers(1, 60))
@example(texts=["aaaa", "aa\n\naa\n\n", "\n", "", " \n a"], size=1)
def test_parts_are_those_of_the_definition(values: dict[str, Any], texts: list[str], size: int) -> None:
    rule = rule_of(values)
    documents = [Document(str(row), text, "s") for row, text in enumerate(texts)]
    expected = [(row, *piece) for row, text in enumerate(texts) for piece in pieces(text, rule)]
    names: dict[bytes, Hashable] = {}
    keys: dict[Hashable, bytes] = {}
    found = []
    for block in blocks(documents, rule.by, size):
        some = parts_of(block, rule)
        hashes = iter(some.hashes)
        for row, start, end, count, counted in some.parts.tolist():
            assert counted == count
            found.append((row, start, end, [one.tobytes() for one in islice(hashes, count)]))
        assert next(hashes, None) is None
    assert [part[:3] for part in found] == [part[:3] for part in expected]
    for (*_, ours), (*_, theirs) in zip(found, expected, strict=True):
        assert len(ours) == len(theirs)
        for one, key in zip(ours, theirs, strict=True):
            assert (names.setdefault(one, key), keys.setdefault(key, one)) == (key, one)


def dolma_spans(text: str, separator: str) -> list[tuple[int, int]]:
    """Spans of all paragraphs as Dolma 1.2.1 counts them: code points, compared with bytes."""
    found, offset = [], 0
    for part in text.split(separator) if text else []:
        start = offset
        offset += len(part)
        offset += offset < len(text.encode()) - 1
        found.append((start, offset))
    return found


@given(texts=st.lists(PIECES.map("".join), max_size=5), separator=st.sampled_from(["\n", "\n\n", "a"]))
@example(texts=[], separator="\n")
@example(texts=["", "a\n", "\n", "é", "aé\n\n"], separator="\n")
def test_spans_of_paragraphs_as_dolma_counts_them(texts: list[str], separator: str) -> None:
    rule = rule_of({"by": "paragraphs", "separator": separator, "skip_empty": False, "compat": "dolma"})
    documents = [Document(str(row), text, "s") for row, text in enumerate(texts)]
    (block,) = blocks(documents, rule.by)
    found = [(row, start, end) for row, start, end, *_ in parts_of(block, rule).parts.tolist()]
    assert found == [(row, *span) for row, text in enumerate(texts) for span in dolma_spans(text, separator)]


@given(TEXTS)
def test_words_lie_in_order_and_hold_all_that_is_visible(text: str) -> None:
    found = words(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(word.strip() for word in found)
    assert [word for part in found for word in words(part)] == found


def test_a_subject_in_the_metadata() -> None:
    def of(metadata: bytes, by: str) -> list[str]:
        return next(blocks([Document("a", "text", "s", metadata=msgspec.Raw(metadata))], by)).subjects

    assert of(b'{"url":"x","n":{"k":1.50}}', "url") == ["x"]
    assert of(b'{"n":{"k":[1,{"b":2,"a":1}]}}', "metadata.n.k") == ['[1,{"a":1,"b":2}]']
    for metadata in (b"", b"{}", b'{"url":null}', b'{"n":1}'):
        assert of(metadata, "url") == of(metadata, "metadata.n.k") == []


HASHES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), max_size=60).map(
    lambda rows: np.array(rows, dtype=np.uint64).reshape(-1, 2) << np.uint64(52)
)


def plain_seen(hashes: np.ndarray[Any, Any]) -> list[bool]:
    rows = [row.tobytes() for row in hashes]
    return [row in rows[:place] for place, row in enumerate(rows)]


@given(HASHES, st.integers(1, 20))
def test_what_was_seen(hashes: np.ndarray[Any, Any], cut: int) -> None:
    known = SeenHashes()
    found = [known.mark(hashes[start : start + cut]) for start in range(0, len(hashes), cut)]
    assert np.concatenate([np.empty(0, bool), *found]).tolist() == plain_seen(hashes)


@given(HASHES, st.integers(1, 20), st.sampled_from([1 << 12, 1 << 24]))
def test_different_hashes_of_a_shard(hashes: np.ndarray[Any, Any], cut: int, memory: int) -> None:
    with Distinct(memory, io.BytesIO) as distinct:
        for start in range(0, len(hashes), cut):
            distinct.add(hashes[start : start + cut])
        blocks_found = list(distinct.blocks())
    rows = np.concatenate([block for block, _ in blocks_found])
    places = np.concatenate([block for _, block in blocks_found]).tolist()
    seen = np.unpackbits(distinct.again, count=len(hashes)).astype(bool).tolist()
    assert seen == plain_seen(hashes)
    assert sorted(places) == [place for place, again in enumerate(seen) if not again]
    assert np.array_equal(rows, hashes[places])
    assert np.all(rows[1:, 0] >= rows[:-1, 0])
    ranges = (rows[:, 0] >> np.uint64(52)).astype(int)
    assert distinct.starts.tolist() == [int((ranges < number).sum()) for number in range(RANGES + 1)]


def test_a_table_grows_and_a_large_shard_is_compared_in_ranges() -> None:
    hashes = np.random.default_rng(1).integers(1, 1 << 62, (3000, 2), dtype=np.uint64) << np.uint64(1)
    twice = np.concatenate([hashes, hashes[::-1]])
    found = {}
    for memory in (1 << 16, 1 << 30):
        with Distinct(memory, io.BytesIO) as distinct:
            for start in range(0, len(twice), 500):
                distinct.add(twice[start : start + 500])
            columns = list(zip(*distinct.blocks(), strict=True))
        found[memory] = [np.concatenate(column).tolist() for column in columns], distinct.again.tolist()
        assert (len(columns[0]) > 10) == (memory == 1 << 16)
    assert found[1 << 16] == found[1 << 30]
    assert len(found[1 << 30][0][0]) == len(hashes)
    known = SeenHashes()
    assert not known.mark(hashes).any()
    assert known.mark(twice).all()


def test_a_filter_forgets_nothing_and_errs_as_stated() -> None:
    hashes = np.random.default_rng(2).integers(1, 1 << 63, (40_000, 2), dtype=np.uint64)
    bloom = Bloom(items=20_000, error=0.01)
    known = SeenInFilter("tested", bloom)
    first = known.mark(hashes[:20_000])
    assert known.mark(hashes[:20_000]).all()
    assert first.mean() < 0.01
    assert np.array_equal(first, SeenInFilter("tested", bloom).mark(hashes[:20_000]))
    full = SeenInFilter("tested", bloom.model_copy(update={"items": 30_000, "size": bloom.bytes}))
    full.mark(hashes[:20_000])
    assert 0.002 < full.mark(hashes[20_000:30_000]).mean() < 0.04
    with pytest.raises(ConfigError, match=r"dedupers\.tested\.bloom\.items is 20,000, but there are more different"):
        known.mark(hashes[20_000:])
