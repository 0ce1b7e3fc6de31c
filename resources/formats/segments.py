"""One file cut into named segments of zstd frames; each can be read alone, and the whole is a valid `.zst` file.

A shard scattered over a thousand chunks stays one file, and a chunk reads only its own frames of it.
"""

import io
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from threading import local
from typing import BinaryIO, cast

import msgspec
import xxhash
import zstandard
from typing_extensions import override

from resources.errors import LedgerError
from resources.formats.codecs import require_memory
from resources.formats.file_format import FileFormat, Open
from resources.formats.jsonl.compressions import ZSTD, without_suffix
from resources.formats.jsonl.lines import digest_of_lines, first_lines
from resources.formats.jsonl.long_lines import all_lines
from resources.formats.writers import Writer, Written

SEGMENTS = ZSTD.ending
INDEX = ".index.json"
"""Suffix of the index, in place of that of the rows."""

_LEVEL = 1
_MIN_BLOCK = 1 << 14
_ALL_BLOCKS = 1 << 24
_READ_AHEAD = 1 << 20
_SMALL = 1 << 16


class Segment(msgspec.Struct, frozen=True, gc=False):
    """The place of one segment in its file, and its content. `bytes` and `digest` are of the uncompressed lines."""

    offset: int
    length: int
    rows: int
    bytes: int
    digest: str


class _Open:
    """A segment being written: lines that wait for a block, and the blocks that wait in the scratch file."""

    def __init__(self) -> None:
        self.hash = xxhash.xxh3_128()
        self.lines: list[bytes] = []
        self.held = 0
        self.rows = 0
        self.bytes = 0
        self.blocks: list[tuple[int, int]] = []


class SegmentWriter(Writer):
    """Scatters lines over segments in any order; `finish` puts each segment in one piece.

    Memory is one block of lines per segment, smaller the more segments there are. Each block is a zstd frame of its
    own; compressed blocks wait in `scratch`.
    """

    def __init__(self, file: BinaryIO, scratch: BinaryIO, names: list[str]) -> None:
        self._file = file
        self._scratch = scratch
        self._zstd = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self._block = max(_MIN_BLOCK, _ALL_BLOCKS // max(1, len(names)))
        self._open = {name: _Open() for name in names}
        self.index: dict[str, Segment] = {}

    def write(self, name: str, line: bytes) -> None:
        """Adds one line, newline included, to a segment."""
        segment = self._open[name]
        segment.lines.append(line)
        segment.held += len(line)
        segment.rows += 1
        if segment.held >= self._block:
            self._flush(segment)

    def _flush(self, segment: _Open) -> None:
        if not segment.lines:
            return
        block = b"".join(segment.lines)
        segment.hash.update(block)
        segment.bytes += segment.held
        segment.lines.clear()
        segment.held = 0
        compressed = self._zstd.compress(block)
        segment.blocks.append((self._scratch.tell(), len(compressed)))
        self._scratch.write(compressed)

    @override
    def _complete(self) -> Written:
        """Writes the frames of every segment, and fills `index` with their places."""
        for segment in self._open.values():
            self._flush(segment)
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


class _Decompressor(local):
    """One decompressor per thread for small segments, since making one costs more than decompressing a few rows."""

    def __init__(self) -> None:
        self.shared = zstandard.ZstdDecompressor()


_DECOMPRESSOR = _Decompressor()


def segment_lines(frames: bytes, segment: Segment) -> Iterator[bytes]:
    """Yields the lines of one segment, newline included.

    frames: the stored bytes of the segment. `LedgerError` if they do not hold what the index says.
    """
    digest = xxhash.xxh3_128()
    rows = 0
    try:
        with _opened(frames, segment) as lines:
            for line in all_lines(lines):
                digest.update(line)
                rows += 1
                yield line
    except zstandard.ZstdError as error:
        require_memory(error)
        raise _damage(str(error)) from None
    _require(segment, rows, digest.hexdigest())


def small_segment_lines(frames: bytes, segment: Segment) -> list[bytes] | None:
    """Returns the checked lines of a small segment of one frame; None for any other segment.

    Arguments and errors are those of `segment_lines`, which costs several times as much for a few rows.
    """
    try:
        if not frames or segment.bytes > _SMALL or zstandard.frame_content_size(frames) != segment.bytes:
            return None
        content = _DECOMPRESSOR.shared.decompress(frames)
    except zstandard.ZstdError as error:
        require_memory(error)
        raise _damage(str(error)) from None
    lines = io.BytesIO(content).readlines()
    _require(segment, len(lines), xxhash.xxh3_128_hexdigest(content))
    return lines


def _require(segment: Segment, rows: int, digest: str) -> None:
    if rows != segment.rows or digest != segment.digest:
        raise _damage(f"{rows} rows read, {segment.rows} recorded")


def _damage(problem: str) -> LedgerError:
    return LedgerError(f"damaged segment: {problem}; run `corpus verify --deep`")


def _opened(frames: bytes, segment: Segment) -> BinaryIO:
    """Opens the lines of a segment; a small one is decompressed at once, so that no other is meanwhile."""
    if segment.bytes <= _SMALL:
        stream = _DECOMPRESSOR.shared.stream_reader(frames, read_across_frames=True)
        return io.BytesIO(stream.read(segment.bytes + 1))
    stream = zstandard.ZstdDecompressor().stream_reader(frames, read_across_frames=True)
    return cast(BinaryIO, io.BufferedReader(stream, _READ_AHEAD))


def index_path(path: str) -> str:
    """Returns where the index of a segmented file lies."""
    return without_suffix(path) + INDEX


def _index(open_file: Open, path: str) -> dict[str, Segment] | None:
    """Returns the index of a file; None if there is none, so that the file is no segmented one."""
    try:
        with open_file(index_path(path)) as file:
            return msgspec.json.decode(file.read(), type=dict[str, Segment])
    except FileNotFoundError:
        return None


def _all_lines(open_file: Open, path: str, index: Mapping[str, Segment]) -> Iterator[bytes]:
    """Yields the lines of one segment after the other."""
    with open_file(path) as file:
        for segment in index.values():
            file.seek(segment.offset)
            yield from segment_lines(file.read(segment.length), segment)


def _digest(open_file: Open, path: str) -> str:
    """Returns the digest of a file, which covers the digests of its segments; reading a segment checks its own."""
    index = _index(open_file, path)
    if index is None:
        return digest_of_lines(open_file, path)
    deque(_all_lines(open_file, path, index), maxlen=0)
    whole = xxhash.xxh3_128()
    for name, segment in index.items():
        whole.update(f"{name} {segment.digest}\n".encode())
    return whole.hexdigest()


def _preview(open_file: Open, path: str, rows: int) -> Iterator[str]:
    index = _index(open_file, path)
    if index is None:
        return first_lines(open_file, path, rows)
    return (line.decode().rstrip("\n") for line in islice(_all_lines(open_file, path, index), rows))


ZSTD_ROWS = FileFormat(SEGMENTS, _digest, _preview)
"""Rows in zstd: segments if their index lies beside them, else members."""
