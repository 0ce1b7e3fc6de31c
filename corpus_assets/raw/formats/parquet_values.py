"""What the values of a parquet page take in memory where they share bytes, told without making any of them.

Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/, "Delta Encoding" and "Delta Strings".
"""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corpus_assets.raw.formats.parquet_pages import Chunk, PageError, PageHeader, Varints

_LENGTH_BYTES: Final = 4
_BLOCK, _MINIBLOCK, _LONGEST_WIDTH = 128, 32, 32
MOST_VALUES: Final = 1 << 27
"""Values of a page; its lengths are held while they are added up."""


def front_coded_bytes(chunk: Chunk, codec: str, page: PageHeader, body: memoryview) -> int:
    """Returns the bytes of all values of a page in DELTA_BYTE_ARRAY: of their beginnings, and of their ends.

    Raises `PageError` for a page that cannot be decoded.
    """
    values = _values(chunk, codec, page, body)
    beginnings, used = delta_numbers(values, min(page.values, MOST_VALUES))
    ends, _ = delta_numbers(values[used:], min(page.values, MOST_VALUES))
    if min(beginnings.min(initial=0), ends.min(initial=0)) < 0:
        raise PageError("it has a length below 0")
    return int(beginnings.sum() + ends.sum())


def longest_in_dictionary(codec: str, page: PageHeader, body: memoryview) -> int:
    """Returns the bytes of the longest text in a dictionary page; `PageError` if it cannot be decoded."""
    values = decompressed(codec, page, body)
    place = longest = 0
    while place < len(values):
        length = int.from_bytes(values[place : place + _LENGTH_BYTES], "little")
        longest = max(longest, length)
        place += _LENGTH_BYTES + length
    return longest


def decompressed(codec: str, page: PageHeader, body: memoryview) -> memoryview:
    """Returns what a page holds, without the levels that are never compressed; `PageError` if it cannot be told."""
    levels = page.levels or 0
    stored, size = body[levels:], page.decompressed - levels
    if not 0 <= levels <= len(body) or size < 0:
        raise PageError("its levels are longer than it is")
    if codec == "UNCOMPRESSED" or not size:
        return stored
    try:
        return memoryview(pa.Codec(_codec(codec)).decompress(stored, size)).cast("B")
    except MemoryError:  # Arrow's own is an ArrowException too.
        raise
    except (pa.ArrowException, ValueError, OSError) as fault:
        if len(stored) == size:
            return stored  # A page may say that it is not compressed.
        raise PageError(f"it cannot be decompressed: {fault}") from None


def _codec(name: str) -> str:
    return "lz4_raw" if name.startswith("LZ4") else name.lower()


def _values(chunk: Chunk, codec: str, page: PageHeader, body: memoryview) -> memoryview:
    """Returns the bytes of a page behind its levels."""
    found = decompressed(codec, page, body)
    for _ in range(chunk.levels if page.levels is None else 0):
        found = found[_LENGTH_BYTES + int.from_bytes(found[:_LENGTH_BYTES], "little") :]
    return found


def delta_numbers(stored: memoryview, most: int) -> tuple[NDArray[np.int64], int]:
    """Returns the whole numbers (n,) at the start of `stored`, in DELTA_BINARY_PACKED, and the bytes they take.

    Raises `PageError` for more than `most` numbers, and for bytes that are none.
    """
    fields = Varints(stored)
    try:
        block, miniblocks, count, first = (fields.varint(), fields.varint(), fields.varint(), fields.number())
        size = block // max(miniblocks, 1)
        if block % _BLOCK or not size or size % _MINIBLOCK or count > most:
            raise PageError("it has a block of lengths that is none, or more lengths than values")
        deltas = np.zeros(max(count, 1), np.int64)
        deltas[0] = first
        done = 1
        while done < count:
            least = fields.number()
            for width in fields.take(miniblocks):
                if done >= count:
                    break
                end = min(done + size, count)
                packed = fields.take(size * width // 8)
                deltas[done:end] = (_unpacked(packed, width)[: end - done] if width else 0) + np.int64(least)
                done = end
    except (IndexError, OverflowError):
        raise PageError("its lengths are cut") from None
    return np.cumsum(deltas)[:count], fields.place


def _unpacked(packed: memoryview, width: int) -> NDArray[np.int64]:
    if width > _LONGEST_WIDTH:
        raise PageError("it has a length of more than 32 bits")
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").reshape(-1, width)
    return bits @ (np.int64(1) << np.arange(width, dtype=np.int64))
