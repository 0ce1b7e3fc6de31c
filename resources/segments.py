"""One file cut into named segments, each a zstd frame that is read alone; the whole is a valid `.zst` file.

A shard scattered over a thousand chunks stays one file, and a chunk reads only its own frame of it.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
import xxhash
import zstandard

from resources.errors import LedgerError
from resources.writers import Written

_LEVEL = 1
_BLOCK = 1 << 16


class Segment(msgspec.Struct, frozen=True):
    """Where one segment lies in its file and what it holds. `bytes` and `digest` are of the uncompressed lines."""

    offset: int
    length: int
    rows: int
    bytes: int
    digest: str


class _Open:
    """A frame being compressed, in blocks that wait in the scratch file."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
        self.hash = xxhash.xxh3_128()
        self.lines: list[bytes] = []
        self.held = 0
        self.rows = 0
        self.bytes = 0
        self.blocks: list[tuple[int, int]] = []


class SegmentWriter:
    """Scatters lines over segments in any order; `finish` puts each segment's frame in one piece.

    Memory is one compressor and one block per segment; compressed blocks wait in `scratch`.
    """

    def __init__(self, file: BinaryIO, scratch: BinaryIO, names: list[str]) -> None:
        self._file = file
        self._scratch = scratch
        self._open = {name: _Open() for name in names}
        self.index: dict[str, Segment] = {}

    def write(self, name: str, line: bytes) -> None:
        """Add one line, newline included, to a segment."""
        segment = self._open[name]
        segment.lines.append(line)
        segment.held += len(line)
        segment.rows += 1
        if segment.held >= _BLOCK:
            self._flush(segment)

    def _flush(self, segment: _Open) -> None:
        block = b"".join(segment.lines)
        segment.hash.update(block)
        segment.bytes += segment.held
        segment.lines.clear()
        segment.held = 0
        self._keep(segment, segment.zstd.compress(block))

    def _keep(self, segment: _Open, compressed: bytes) -> None:
        if compressed:
            segment.blocks.append((self._scratch.tell(), len(compressed)))
            self._scratch.write(compressed)

    def finish(self) -> Written:
        """Write every segment's frame; `index` then says where each lies."""
        for segment in self._open.values():
            self._flush(segment)
            self._keep(segment, segment.zstd.flush())
        whole = xxhash.xxh3_128()
        for name, segment in self._open.items():
            offset = self._file.tell()
            for position, length in segment.blocks:
                self._scratch.seek(position)
                self._file.write(self._scratch.read(length))
            digest = segment.hash.hexdigest()
            whole.update(f"{name} {digest}\n".encode())
            length = self._file.tell() - offset
            self.index[name] = Segment(offset, length, segment.rows, segment.bytes, digest)
        rows = sum(segment.rows for segment in self._open.values())
        return Written(whole.hexdigest(), rows, sum(segment.bytes for segment in self._open.values()))


def segment_lines(file: BinaryIO, segment: Segment) -> Iterator[bytes]:
    """Lines of one segment, newline included; `LedgerError` when the frame does not hold what the index says."""
    file.seek(segment.offset)
    frame = io.BytesIO(file.read(segment.length))
    digest = xxhash.xxh3_128()
    rows = 0
    try:
        with io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(frame), 1 << 20) as lines:
            for line in lines:
                digest.update(line)
                rows += 1
                yield line
    except zstandard.ZstdError as error:
        raise LedgerError(f"damaged segment: {error}; run `corpus verify --deep`") from None
    if rows != segment.rows or digest.hexdigest() != segment.digest:
        raise LedgerError(f"damaged segment: {rows} rows read, {segment.rows} recorded; run `corpus verify --deep`")
