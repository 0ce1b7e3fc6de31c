"""Row tables beside documents: what is known of each row without parsing it again."""

import struct
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

TEXT = np.dtype([("bytes", "<u4"), ("digest", "u1", (32,)), ("created", "<i8"), ("id_end", "<u8")])
"""Beside normalized documents: UTF-8 bytes and SHA-256 of each text, when it was created (resources/formats/created.py), and
where its id ends in the file of ids."""

TEXTS, NAMES = "texts", "names"
"""Parts of normalized documents that later stages depend on: the texts alone; texts, dates and ids, no metadata."""

SIGNATURES, SKETCH = "signatures", "sketch"
"""Parts of minhashes: what the bands are made of, and what candidates are checked with."""

RowTable = NDArray[np.void]

_ROW = struct.Struct(f"<QII{SOURCE_BYTES}s32s")
assert _ROW.size == ROW.itemsize


def pack_row(order: int, copy: int, size: int, source: bytes, digest: bytes) -> bytes:
    """One row of the table as bytes: what a scattering stage can hold many of."""
    return _ROW.pack(order, copy, size, source, digest)


def packed_rows(packed: bytes | bytearray) -> RowTable:
    """RowTable packed one after another as an array."""
    return np.frombuffer(packed, dtype=ROW)


def digests(rows: RowTable) -> list[bytes]:
    """SHA-256 digests, 32 bytes each, in row order."""
    packed = np.ascontiguousarray(rows["digest"]).tobytes()
    return [packed[start : start + 32] for start in range(0, len(packed), 32)]


def sources(rows: RowTable) -> list[str]:
    """Source names, in row order."""
    names: list[Any] = rows["source"].tolist()
    return [name.decode() for name in names]
