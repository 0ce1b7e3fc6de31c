"""Pairs of documents with equal keys, found by external bucketing in bounded memory.

A bucket of n documents gives n - 1 edges, a star from its lowest document number: the same connected components as
all n * (n - 1) / 2 pairs (docs/formats/slimpajama.md "Pairs"). A key is one 64-bit word or several, compared in full.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain as chained
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.dedup.documents.numbering import Documents, Edges
from corpus_assets.dedup.signatures.bands import NO_KEY
from resources.errors import CorpusError
from resources.spill import Spill

Words = NDArray[np.uint64]

_BLOCK_ROWS = 1 << 16
_HELD_BLOCKS = 16
_WORD_BITS = 64
_SPLIT_BITS = 6
_SPLIT_BUCKETS = 1 << _SPLIT_BITS
_EVERY_WORD = (0, 2**_WORD_BITS - 1)


class TooManyDocumentsError(CorpusError):
    """There are more documents than the type of their numbers can count."""


@dataclass(frozen=True)
class KeyedRows:
    """Keys (n, words) and the numbers (n,) of their documents, which ascend for equal keys."""

    words: Words
    documents: Documents

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class _Limits:
    """Most rows in memory, rows per block of a stream, and files for the rest."""

    rows: int
    block: int
    spill: Spill
    chain: bool

    @classmethod
    def of(cls, memory: int, row_bytes: int, spill: Spill, chain: bool) -> "_Limits":
        # At the peak, memory holds the rows twice, and three words of sorting per row.
        rows = max(memory // (2 * row_bytes + 48), 1)
        return cls(rows, max(min(rows // _HELD_BLOCKS, _BLOCK_ROWS), 1), spill, chain)


def star_pairs(
    shards: Iterable[Words], *, memory: int, spill: Spill, dtype: DTypeLike = np.uint32, chain: bool = False
) -> Iterator[Edges]:
    """Yields edges (m, 2) of [first document, later document] between documents with equal keys in one band.

    `shards` are the keys of one shard's rows each, in canonical order; rows are numbered through all of them from 0,
    as `dtype`. `NO_KEY` rows count but never pair. With `chain`, a later document is also paired with its neighbour
    in the bucket: a, b, c gives a-b, a-c, b-c. The edges, concatenated, are ordered by key, later document and first
    document, and depend neither on `memory` (working set in bytes) nor on how the rows are cut into shards.

    A band too large for `memory` is split by the leading bits of its keys into files from `spill`: empty, binary,
    open for reading and writing. They are closed here, so that temporary files vanish. `TooManyDocumentsError` if there
    are more documents than `dtype` can number.
    """
    record, limits = _record(1, dtype), _limits(memory, 1, dtype, spill, chain)
    numbered = _numbered(_together(shards, limits.block), limits.block, record["document"])
    return _pairs(_joined(numbered, limits.block), limits, record)


def equal_rows(
    rows: Iterable[tuple[Words, Documents]],
    *,
    memory: int,
    spill: Spill,
    words: int = 1,
    dtype: DTypeLike = np.uint32,
    chain: bool = False,
) -> Iterator[Edges]:
    """Yields the edges of `star_pairs` for keys of several words: blocks of (keys (n, words), document numbers (n,)).

    The numbers of documents with equal keys ascend through all blocks; no key is excluded.
    """
    limits = _limits(memory, words, dtype, spill, chain)
    return _pairs(_joined(_blocks(rows, limits.block), limits.block), limits, _record(words, dtype))


def _record(words: int, dtype: DTypeLike) -> np.dtype[Any]:
    """Returns the type of a row on file."""
    return np.dtype([("words", "<u8", (words,)), ("document", np.dtype(dtype).newbyteorder("<"))])


def _limits(memory: int, words: int, dtype: DTypeLike, spill: Spill, chain: bool) -> _Limits:
    return _Limits.of(memory, _record(words, dtype).itemsize, spill, chain)


def _blocks(rows: Iterable[tuple[Words, Documents]], most: int) -> Iterator[KeyedRows]:
    """Yields the rows in blocks of at most `most`."""
    for words, documents in rows:
        for start in range(0, len(words), most):
            yield KeyedRows(words[start : start + most], documents[start : start + most])


def _together(shards: Iterable[Words], most: int) -> Iterator[Words]:
    """Yields the keys of small shards joined, up to `most` at a time; those of larger ones alone."""
    held: list[Words] = []
    rows = 0
    for shard in shards:
        if held and rows + len(shard) > most:
            yield _as_one(held)
            held, rows = [], 0
        held.append(shard)
        rows += len(shard)
    if held:
        yield _as_one(held)


def _as_one(shards: Sequence[Words]) -> Words:
    return shards[0] if len(shards) == 1 else np.concatenate(shards)


def _numbered(shards: Iterable[Words], block: int, dtype: np.dtype[Any]) -> Iterator[KeyedRows]:
    """Yields the rows with a key, in blocks of document order."""
    first = 0
    for shard in shards:
        if first + len(shard) > np.iinfo(dtype).max + 1:
            raise TooManyDocumentsError(
                f"{first + len(shard)} documents or more; at most {np.iinfo(dtype).max + 1} can be numbered"
            )
        for start in range(0, len(shard), block):
            keys = np.asarray(shard[start : start + block])
            rows = np.flatnonzero(keys != NO_KEY)
            yield KeyedRows(keys[rows, None], (rows.astype(np.uint64) + np.uint64(first + start)).astype(dtype))
        first += len(shard)


def _joined(blocks: Iterable[KeyedRows], least: int) -> Iterator[KeyedRows]:
    """Yields the same rows in blocks of at least `least` and less than twice that; the last one may be smaller."""
    held: list[KeyedRows] = []
    rows = 0
    for block in blocks:
        held.append(block)
        rows += len(block)
        if rows >= least:
            yield _concatenated(held)
            held, rows = [], 0
    if rows:
        yield _concatenated(held)


def _concatenated(blocks: Sequence[KeyedRows]) -> KeyedRows:
    if len(blocks) == 1:
        return blocks[0]
    words = np.concatenate([block.words for block in blocks])
    return KeyedRows(words, np.concatenate([block.documents for block in blocks]))


def _pairs(
    blocks: Iterator[KeyedRows],
    limits: _Limits,
    record: np.dtype[Any],
    word: int = 0,
    span: tuple[int, int] = _EVERY_WORD,
) -> Iterator[Edges]:
    """Yields edges of rows that agree in all words before `word`, and whose `word` lies in `span`, ends included."""
    low, high = span
    # Rows of one value cannot be split by this word, only by the next; rows equal in all words are one bucket.
    while low == high:
        word, (low, high) = word + 1, _EVERY_WORD
        if word == record["words"].shape[0]:
            yield from _pairs_of_one_key(blocks, limits)
            return
    held: deque[KeyedRows] = deque()
    rows = 0
    for block in blocks:
        held.append(block)
        rows += len(block)
        if rows > limits.rows:
            yield from _split(chained(_drained(held), blocks), limits, record, word, (low, high))
            return
    if rows:
        yield from _pairs_in_memory(_released(held), word, limits)


def _released(held: deque[KeyedRows]) -> KeyedRows:
    """Returns the blocks as one, and empties `held`."""
    whole = _concatenated(held)
    held.clear()
    return whole


def _drained(held: deque[KeyedRows]) -> Iterator[KeyedRows]:
    """Yields the blocks in order, and releases each as it is handed out."""
    while held:
        yield held.popleft()


def _pairs_in_memory(rows: KeyedRows, word: int, limits: _Limits) -> Iterator[Edges]:
    """Yields the edges of one row or more."""
    repeated = _repeated(np.ascontiguousarray(rows.words[:, word]))
    keys, documents = rows.words[repeated, word:], rows.documents[repeated]
    del rows, repeated
    # Nearly in order already, which a stable sort exploits; equal keys stay in document order.
    order = np.lexsort(keys.T[::-1])
    keys, documents = keys[order], documents[order]
    leads = np.ones(len(keys), dtype=np.bool_)
    np.any(keys[1:] != keys[:-1], axis=1, out=leads[1:])
    yield from _edges(documents, leads, limits)


def _repeated(keys: Words) -> NDArray[np.int64]:
    """Returns the rows that share the leading bits of their key with another, by these bits, then row.

    Sorting whole words is several times as fast as sorting indices: a row number takes the low bits, and the key's
    leading bits, without those common to all keys, the others. All rows with equal keys are returned; rows that share
    these bits may still have different keys.
    """
    # Key and row number share one word, so that sorting moves no second array and needs no indices.
    row_bits = (len(keys) - 1).bit_length()
    common = _WORD_BITS - int(np.bitwise_xor(keys.min(), keys.max())).bit_length()
    rows_mask = np.uint64((1 << row_bits) - 1)
    shift = np.uint64(min(common, _WORD_BITS - 1))
    packed = np.empty_like(keys)
    for start in range(0, len(keys), _BLOCK_ROWS):
        block = keys[start : start + _BLOCK_ROWS] << shift
        block &= ~rows_mask
        block |= np.arange(start, start + len(block), dtype=np.uint64)
        packed[start : start + len(block)] = block
    packed.sort()
    alike = np.zeros(len(keys) + 1, dtype=np.bool_)
    for start in range(1, len(keys), _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, len(keys))
        np.less_equal(packed[start:stop] ^ packed[start - 1 : stop - 1], rows_mask, out=alike[start:stop])
    return (packed[alike[1:] | alike[:-1]] & rows_mask).astype(np.int64)


def _edges(documents: Documents, leads: NDArray[np.bool_], limits: _Limits) -> Iterator[Edges]:
    """Yields the edges of consecutive buckets, each of which begins where `leads` is true."""
    lead = 0
    for start in range(0, len(documents), limits.block):
        leading = leads[start : start + limits.block]
        rows = np.arange(start, start + len(leading))
        leads_of = np.maximum.accumulate(np.where(leading, rows, lead))
        lead = int(leads_of[-1])
        later = rows[~leading]
        firsts = leads_of[~leading]
        if not limits.chain:
            yield np.stack([documents[firsts], documents[later]], axis=1)
            continue
        # The second document of a bucket has its first one as neighbour: that edge is there already.
        ends = np.stack([firsts, later, later - 1, later], axis=1).reshape(-1, 2)
        new = np.ones(len(ends), dtype=np.bool_)
        new[1::2] = later - 1 != firsts
        yield documents[ends[new]]


def _pairs_of_one_key(blocks: Iterator[KeyedRows], limits: _Limits) -> Iterator[Edges]:
    """Yields the edges of a single bucket of any size, in constant memory."""
    # Of the blocks before, later edges need only the first document and, for chains, the last one.
    ends = np.empty(0, dtype=np.uint64)
    for block in blocks:
        documents = np.concatenate([ends.astype(block.documents.dtype), block.documents])
        leads = np.arange(len(documents)) == 0
        # The edge between the ends of earlier blocks has already been yielded.
        given = max(len(ends) - 1, 0)
        for edges in _edges(documents, leads, limits):
            yield edges[given:]
            given = max(given - len(edges), 0)
        ends = documents[[0, -1]] if len(documents) > 1 else documents


@dataclass
class _Bucket:
    """Rows on file, in document order, and the span of the word by which they are split."""

    file: BinaryIO
    low: int = 2**_WORD_BITS - 1
    high: int = 0

    def append(self, records: NDArray[np.void], word: int) -> None:
        values = records["words"][:, word]
        self.file.write(records.data)
        self.low = min(self.low, int(values.min()))
        self.high = max(self.high, int(values.max()))

    def blocks(self, rows: int, record: np.dtype[Any]) -> Iterator[KeyedRows]:
        self.file.seek(0)
        while raw := self.file.read(rows * record.itemsize):
            records = np.frombuffer(raw, dtype=record)
            yield KeyedRows(np.ascontiguousarray(records["words"]), np.ascontiguousarray(records["document"]))


def _split(
    blocks: Iterator[KeyedRows], limits: _Limits, record: np.dtype[Any], word: int, span: tuple[int, int]
) -> Iterator[Edges]:
    """Yields edges through files, one per value of the leading bits in which the rows' `word` can still differ."""
    shift = np.uint64(max((span[0] ^ span[1]).bit_length() - _SPLIT_BITS, 0))
    buckets: dict[int, _Bucket] = {}
    with ExitStack() as files:
        for block in blocks:
            numbers = (block.words[:, word] >> shift).astype(np.uint8) % _SPLIT_BUCKETS
            order = np.argsort(numbers, kind="stable")
            records = np.empty(len(block), dtype=record)
            records["words"] = block.words[order]
            records["document"] = block.documents[order]
            ends = np.cumsum(np.bincount(numbers, minlength=_SPLIT_BUCKETS)).tolist()
            for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
                if end > start:
                    if number not in buckets:
                        buckets[number] = _Bucket(files.enter_context(limits.spill()))
                    buckets[number].append(records[start:end], word)
        # One after the other, in the order of keys: so the edges are ordered, and each file is gone before the next.
        for _, bucket in sorted(buckets.items()):
            rows = bucket.blocks(limits.block, record)
            yield from _pairs(rows, limits, record, word, (bucket.low, bucket.high))
            bucket.file.close()
