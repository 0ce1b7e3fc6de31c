"""MDS of mosaicml-streaming: shards of samples, and an index with their sizes, columns and checksums."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.indexed import group_indexed, read_index
from corpus_assets.token_files.mds_bytes import ShardBytes
from corpus_assets.token_files.mds_columns import Column
from corpus_assets.token_files.mds_index import Index, Shard
from corpus_assets.token_files.pieces import BLOCK_IDS, How, Pieces, TokenFile, TokenSource, by_separator

_U4 = np.dtype("<u4")


def _names(content: bytes, there: set[str]) -> list[str]:
    index = msgspec.json.decode(content, type=Index)
    return [shard.file(there).basename for shard in index.shards]


GROUP = partial(group_indexed, names=_names)


def read(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of all shards of an index, in its order.

    A sample is a document; with `borders: separator` the samples are one stream, in which documents end at separators.
    `BadFileError` for a shard that is not as the index says, checksums included.
    """
    file = source.open()
    index = read_index(file, Index)
    if index.version != 2:
        raise file.bad(f"is version {index.version} of the index; valid: 2")
    pieces = (piece for shard in index.shards for piece in _shard(source, file, shard, how))
    if how.section.borders != "separator":
        yield from pieces
        return
    assert how.separator is not None, "documents are told apart by the separator"
    yield from by_separator((piece.ids for piece in pieces), how.separator, before=how.section.side == "before")


def _shard(source: TokenSource, index: TokenFile, shard: Shard, how: How) -> Iterator[Pieces]:
    part = shard.file(set(source.members))
    column = Column.of(index, shard, how)
    stored = source.open(part.basename)
    content = ShardBytes(stored, shard, part)
    yield from _gathered(_samples(content, shard, column, how))
    content.require_right()


def _gathered(samples: Iterator[NDArray[Any]]) -> Iterator[Pieces]:
    """Yields samples in blocks of about `BLOCK_IDS` ids."""
    held, ends = list[NDArray[Any]](), list[int]()
    for ids in samples:
        held.append(ids)
        ends.append((ends[-1] if ends else 0) + len(ids))
        if ends[-1] >= BLOCK_IDS or len(ends) >= BLOCK_IDS:
            yield Pieces(np.concatenate(held), np.array(ends))
            held, ends = [], []
    if held:
        yield Pieces(np.concatenate(held), np.array(ends))


def _samples(content: ShardBytes, shard: Shard, column: Column, how: How) -> Iterator[NDArray[Any]]:
    file, size = content.file, shard.raw_data.bytes
    count = int(file.array(_U4, 1, "the number of samples")[0])
    if count != shard.samples:
        raise file.bad(f"has {count:,} samples; its index says {shard.samples:,}")
    if 4 * (count + 2) > size:
        raise file.bad(f"has {count:,} samples, which do not fit {size:,} bytes")
    offsets = file.array(_U4, count + 1, "the offsets").astype(np.int64)
    first = int(offsets[0])
    if first < 4 * (count + 2) or np.any(np.diff(offsets) < 0) or offsets[-1] != size:
        raise file.bad(f"its samples are from byte {first:,} to {offsets[-1]:,}; expected: in order, up to {size:,}")
    file.read(first - 4 * (count + 2), "the description of columns")
    most = column.most_bytes(how.section.longest_document)
    for number, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        if end - start > most:
            raise file.bad(
                f"sample {number:,} has {end - start:,} bytes, which are more than longest_document "
                f"({how.section.longest_document:,} ids) allows"
            )
        yield column.ids(file, number, file.read(end - start, f"sample {number:,}"))
