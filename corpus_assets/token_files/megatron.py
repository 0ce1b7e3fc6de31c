"""Megatron's indexed datasets: `.bin` holds the ids, `.idx` says where sequences and documents lie in it."""

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.pairs import group_pairs
from corpus_assets.token_files.pieces import BLOCK_IDS, How, Pieces, TokenFile, TokenSource, by_lengths

GROUP = partial(group_pairs, said=".idx", ids=".bin")
MAGIC: Final = b"MMIDIDX\x00\x00"
TYPES: Final = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 8: "uint16"}
HEADER: Final = 34
"""Bytes before the lengths of sequences."""
_I4, _I8 = np.dtype("<i4"), np.dtype("<i8")


class Index(NamedTuple):
    """The header of an index. dtype: of the ids. entries: of the document index, which are documents + 1."""

    dtype: np.dtype[np.integer]
    sequences: int
    entries: int


def read(source: TokenSource, _: How) -> Iterator[Pieces]:
    """Yields the ids of a pair of files; `BadFileError` where the two disagree.

    Lengths, pointers and documents are compared in blocks, so memory does not grow with the files. Sequences of one
    document are joined.
    """
    index_file, data = source.open_ending(".idx"), source.open_ending(".bin")
    index = read_header(index_file)
    yield from by_lengths(data, index.dtype, _documents(index_file, data, index))


def read_header(file: TokenFile) -> Index:
    """Returns what the header of an index says; `BadFileError` if it is none, or does not fit the size of the file."""
    head = file.read(HEADER, "the header of an index")
    if not head.startswith(MAGIC):
        raise file.bad(f"begins with {head[:9]!r}; valid: an index of Megatron, which begins with {MAGIC!r}")
    version, code = int.from_bytes(head[9:17], "little"), head[17]
    if version != 1:
        raise file.bad(f"is version {version:,} of the index; valid: 1")
    if code not in TYPES:
        valid = ", ".join(f"{known} {name}" for known, name in TYPES.items())
        raise file.bad(f"has ids of type {code}; valid: {valid}")
    sequences, entries = (int.from_bytes(head[at : at + 8], "little") for at in (18, 26))
    needed = HEADER + 12 * sequences + 8 * entries
    if file.size == needed + sequences > needed:
        raise file.bad("holds modes of sequences, as datasets of images and texts do; valid: texts alone")
    if file.size != needed:
        raise file.bad(
            f"has {file.size:,} bytes; {sequences:,} sequences and {entries:,} entries of the document index, as its "
            f"header says, are {needed:,}"
        )
    if entries < 1:
        raise file.bad("has no document index; valid: 0, and for each document the number of sequences up to its end")
    return Index(np.dtype(TYPES[code]).newbyteorder("<"), sequences, entries)


def _documents(file: TokenFile, data: TokenFile, index: Index) -> Iterator[NDArray[np.int64]]:
    """Yields the ids of each document, in blocks. Before the first one it compares the sizes of the two files."""
    at_entries = HEADER + 12 * index.sequences
    first, last = (int(file.array_at(at_entries + 8 * n, _I8, 1, "an entry")[0]) for n in (0, index.entries - 1))
    if (first, last) != (0, index.sequences):
        raise file.bad(
            f"its document index goes from {first:,} to {last:,}; valid: from 0 to the number of sequences, "
            f"{index.sequences:,}"
        )
    # Sequences are read as documents need them. What is left of a block of them waits in `held`.
    sequences, held, sum_before, known = _sequences(file, data, index), np.empty(0, np.int64), 0, 0
    ends_of_last = 0
    for start in range(1, index.entries, BLOCK_IDS):
        count = min(BLOCK_IDS, index.entries - start)
        ends = file.array_at(at_entries + 8 * start, _I8, count, "the document index")
        steps = np.diff(ends, prepend=ends_of_last)
        if len(wrong := np.flatnonzero(steps < 0)):
            raise file.bad(f"document {start - 1 + wrong[0]:,} ends before it begins, by the document index")
        if int(ends[-1]) > index.sequences:
            raise file.bad(f"its document index names sequence {int(ends[-1]):,}; there are {index.sequences:,}")
        while known < ends[-1]:
            block = next(sequences)
            held, known = np.concatenate([held, block]), known + len(block)
        sums = np.concatenate([[0], np.cumsum(held)])
        offsets = ends - (known - len(held))
        yield np.diff(sums[offsets], prepend=sum_before)
        held, ends_of_last = held[offsets[-1] :], int(ends[-1])
    for _ in sequences:  # all are compared with their pointers
        pass
    if not index.sequences and data.size:
        raise data.bad(f"has {data.size:,} bytes, and its index names no sequence")


def _sequences(file: TokenFile, data: TokenFile, index: Index) -> Iterator[NDArray[np.int64]]:
    """Yields the ids of each sequence in blocks, compared with the pointers and the size of the data."""
    place, width, size = 0, index.dtype.itemsize, data.size
    for start in range(0, index.sequences, BLOCK_IDS):
        count = min(BLOCK_IDS, index.sequences - start)
        lengths = file.array_at(HEADER + 4 * start, _I4, count, "the lengths").astype(np.int64)
        if len(wrong := np.flatnonzero(lengths < 0)):
            raise file.bad(f"sequence {start + wrong[0]:,} has {lengths[wrong[0]]:,} ids; valid: 0 or more")
        pointers = file.array_at(HEADER + 4 * index.sequences + 8 * start, _I8, count, "the pointers")
        ends = place + np.cumsum(lengths) * width
        expected = np.concatenate([[place], ends[:-1]])
        if len(wrong := np.flatnonzero(pointers != expected)):
            number = wrong[0]
            raise file.bad(
                f"sequence {start + number:,} begins at byte {pointers[number]:,} of {data.where}; expected "
                f"{expected[number]:,}, where the one before it ends"
            )
        place = int(ends[-1])
        is_last = start + count == index.sequences
        if place > size or (is_last and place != size):
            more = "at least " if not is_last else ""
            raise data.bad(f"has {size:,} bytes; the sequences of {file.where} are {more}{place:,} bytes long")
        yield lengths
