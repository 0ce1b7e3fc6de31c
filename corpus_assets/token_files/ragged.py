"""Ragged arrays (docs/formats/ragged.md): `.data.npy` holds the ids, `.len.npy` how many each document has."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from corpus_assets.token_files.npy import integers, lengths_of
from corpus_assets.token_files.pairs import group_pairs
from corpus_assets.token_files.pieces import How, Pieces, TokenSource, by_lengths

GROUP = partial(group_pairs, said=".len.npy", ids=".data.npy")


def read(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of a pair of arrays; `BadFileError` where the lengths are not those of the data.

    With `wrapped_ids` int16 is read as uint16, as which such files were meant.
    """
    data, lengths = source.open_ending(".data.npy"), source.open_ending(".len.npy")
    dtype, ids = integers(data)
    length_type, documents = integers(lengths)
    start = lengths.file.tell()
    total = sum(int(block.sum()) for block in lengths_of(lengths, length_type, documents))
    if total != ids:
        raise lengths.bad(f"says that {documents:,} documents have {total:,} ids; {data.where} has {ids:,}")
    lengths.file.seek(start)
    if how.section.wrapped_ids and dtype == np.int16:
        dtype = np.dtype(np.uint16).newbyteorder(dtype.byteorder)
    yield from by_lengths(data, dtype, lengths_of(lengths, length_type, documents))
