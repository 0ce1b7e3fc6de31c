"""Row tables next to document files: sizes, digests and places of the rows, so that nobody parses them again."""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SOURCE_BYTES = 48

ROW = np.dtype(
    [
        ("order", "<u8"),
        ("copy", "<u4"),
        ("bytes", "<u4"),
        ("source", f"S{SOURCE_BYTES}"),
        ("digest", "u1", (32,)),
    ]
)
"""order: keyed hash that orders a chunk; copy: 0 for the first use of a document, then 1, 2 ...; bytes: UTF-8 bytes
of the text; source: name; digest: SHA-256 of the text."""

ORIGINS, SHARDS = ".origins.npy", ".shards.json"
"""Suffixes of derived files next to pass 2 of the mix: uint32, the shard of each row, and the keys of these shards.

Partitions made from these documents do not repeat it: renaming a raw file is no reason to rebuild them.
"""

TEXT = np.dtype([("bytes", "<u4"), ("digest", "u1", (32,)), ("created", "<i8"), ("id_end", "<u8")])
"""Row of the table next to normalized documents: UTF-8 bytes and SHA-256 of the text, its creation time
(resources/formats/created.py), and where its id ends in the file of ids."""

LENGTHS = np.dtype([("characters", "<u4"), ("cleaned", "<u4")])
"""Row of a derived table next to normalized documents: code points of the text, and of its cleaned form."""

TEXTS, NAMES = "texts", "names"
"""Segments of normalized documents that later stages depend on: the texts alone; texts, dates and ids."""

SIGNATURES, SKETCH = "signatures", "sketch"
"""Segments of minhashes: the signatures, which the bands are made of; the sketches, which check candidates."""

RowTable = NDArray[np.void]

_ROW = struct.Struct(f"<QII{SOURCE_BYTES}s32s")
assert _ROW.size == ROW.itemsize


def pack_row(order: int, copy: int, size: int, source: bytes, digest: bytes) -> bytes:
    """Returns one row of the table as bytes; a stage that scatters rows can hold many of them."""
    return _ROW.pack(order, copy, size, source, digest)


def packed_rows(packed: bytes | bytearray) -> RowTable:
    """Returns rows that were packed one after another as a table."""
    return np.frombuffer(packed, dtype=ROW)


def identifiers(ends: NDArray[np.unsignedinteger[Any]], characters: NDArray[np.uint8]) -> Iterator[str]:
    """Yields ids that lie one after another as UTF-8; each ends where `ends` (n,) says."""
    start = 0
    for end in ends.tolist():
        yield characters[start:end].tobytes().decode("utf-8", "surrogatepass")
        start = end


def digests(rows: RowTable) -> list[bytes]:
    """Returns the SHA-256 digests, 32 bytes each, in row order."""
    packed = np.ascontiguousarray(rows["digest"]).tobytes()
    return [packed[start : start + 32] for start in range(0, len(packed), 32)]


def sources(rows: RowTable) -> list[str]:
    """Returns the source names, in row order."""
    names: list[Any] = rows["source"].tolist()
    return [name.decode() for name in names]
