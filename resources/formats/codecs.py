"""Decompression as buffered binary streams that never end early without an error."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO, Final, Protocol, cast

import pyarrow as pa
import zstandard
from isal import igzip, igzip_lib
from typing_extensions import override

from resources.errors import CorpusError

BUFFER_BYTES: Final = 1 << 20
ZSTD_WINDOW_BYTES: Final = 1 << 27
"""Largest window that is decoded by default (`zstd --long=27`): the memory one open stream may take. For xz it is the
size of the dictionary.
"""
LARGEST_WINDOW_BYTES: Final = 1 << 31
"""Largest window that the zstd library can decode."""

RATIO: Final = 4096
"""Largest ratio of decompressed to compressed size by default; gzip never reaches more than 1032."""

FREE_BYTES: Final = 64 << 20
"""Decompressed bytes that are allowed whatever the ratio."""

_GZIP_FAULTS: Final = (
    *(gzip.BadGzipFile, zlib.error, EOFError, cast(type[Exception], igzip_lib.IsalError)),
    OverflowError,  # a header of more than 512 KiB
)
_ARROW_FAULTS: Final = (OSError, cast(type[Exception], pa.ArrowException))
_JOINED_FAULTS: Final = (OSError, ValueError, EOFError, lzma.LZMAError, zstandard.ZstdError)
_WINDOW_FAULTS: Final = ("requires too much memory", "Memory usage limit")
_NO_MEMORY: Final = ("Allocation error", "allocation_failed")
"""How zstd and lz4 say that they got no memory; others raise `MemoryError` themselves."""
_XZ_STATE_BYTES: Final = 1 << 20
"""What the xz library takes besides its dictionary, and more."""


_INPUT_BYTES: Final = 1 << 16
"""Compressed bytes that a decoder gets at once. What follows a stream is copied, so a larger number would make a file
of very many small streams slow.
"""
_FRAME_INPUT_BYTES: Final = 1 << 10
"""Of these, what zstd gets at once: it gives all their content, up to 32,768 times as much."""


class CodecError(CorpusError):
    """A compressed stream is cut, corrupt, needs too large a window, or grows past its allowance."""


class WindowError(CodecError):
    """A compressed stream needs a window that is larger than allowed."""


Read = Callable[[int], bytes | memoryview]
"""Reads at most so many decompressed bytes; none at the end."""


def require_memory(fault: Exception) -> None:
    """Raises `MemoryError` if a decoder says that it gets no memory, which is no fault of the content."""
    if any(words in str(fault) for words in _NO_MEMORY):
        raise MemoryError(str(fault)) from None


class _Decoded(io.RawIOBase):
    """A raw stream over a `read(size)` of decompressed bytes, with an allowance."""

    def __init__(self, read: Read, max_bytes: int | None) -> None:
        self._read = read
        self._max_bytes = max_bytes
        self._count = 0

    @override
    def readable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._count

    @override
    def readinto(self, buffer: Any) -> int:
        block = self._read(len(buffer))
        self._count += len(block)
        if self._max_bytes is not None and self._count > self._max_bytes:
            raise CodecError(f"decompresses to more than the {self._max_bytes} bytes allowed for its size")
        buffer[: len(block)] = block
        return len(block)


class _Decoder(Protocol):
    """Decompresses one stream."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more can be had without further compressed bytes."""

    @property
    def unused_data(self) -> bytes:
        """What was given behind the end of the stream."""

    def decompress(self, data: Any, max_length: int = -1) -> bytes:
        """Returns decompressed bytes."""


class _JoinedStreams:
    """Reads all streams of a file; zeros between and behind them are padding.

    Raises `EOFError` if the file ends within a stream, and what the decoder raises.
    """

    def __init__(self, raw: BinaryIO, new: Callable[[], _Decoder]) -> None:
        self._raw = raw
        self._new = new
        self._decoder: _Decoder | None = None
        self._left = b""
        self._began = False

    def read(self, size: int) -> bytes:
        """Returns up to `size` decompressed bytes; none at the end of the file only."""
        while (decoder := self._decoder or self._next()) is not None:
            found = decoder.decompress(self._input(decoder), size)
            if decoder.eof:
                self._left, self._decoder = decoder.unused_data, None
            if found:
                return found
        return b""

    def _next(self) -> _Decoder | None:
        """Begins the next stream; None if there is none."""
        while piece := self._left or self._raw.read(_INPUT_BYTES):
            self._left = piece.lstrip(b"\0") if self._began else piece
            if self._left:
                self._began, self._decoder = True, self._new()
                return self._decoder
        return None

    def _input(self, decoder: _Decoder) -> bytes:
        if not decoder.needs_input:
            return b""
        piece, self._left = self._left or self._raw.read(_INPUT_BYTES), b""
        if not piece:
            raise EOFError("the file ends within a stream")
        return piece


class _ZstdFrame:
    """Decompresses one zstd frame, whose window has up to `window` bytes (a `_Decoder`)."""

    def __init__(self, window: int) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=window).decompressobj(write_size=1 << 15)
        self._given = memoryview(b"")
        self._found = memoryview(b"")

    @property
    def eof(self) -> bool:
        """Whether the frame has ended, and all its content was returned."""
        return self._frame.eof and not self._found

    @property
    def needs_input(self) -> bool:
        """Whether nothing more can be had without further compressed bytes."""
        return not (self._found or self._given or self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        """What was given behind the end of the frame."""
        return self._frame.unused_data + bytes(self._given)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Returns up to `max_length` decompressed bytes."""
        if data:
            self._given = memoryview(data)
        if not self._found and self._given and not self._frame.eof:
            piece, self._given = self._given[:_FRAME_INPUT_BYTES], self._given[_FRAME_INPUT_BYTES:]
            self._found = memoryview(self._frame.decompress(piece))
        end = len(self._found) if max_length < 0 else max_length
        found, self._found = self._found[:end], self._found[end:]
        return bytes(found)


def open_packed(
    raw: BinaryIO, packed: str, max_bytes: int | None = None, window: int = ZSTD_WINDOW_BYTES
) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of `raw`, all streams, members or frames in it.

    packed: a key of `CODECS`. window: the most memory for a window. An empty `raw` gives no bytes. Reading raises
    `CodecError` when a stream is cut, corrupt, followed by other bytes, or longer than `max_bytes`, and `WindowError`
    for a larger window; what `raw` raises passes. The caller closes `raw`.
    """
    return io.BufferedReader(_Decoded(CODECS[packed](raw, window), max_bytes), BUFFER_BYTES)


def open_gzip(raw: BinaryIO, max_bytes: int | None = None) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of all gzip members of `raw`, without zero padding at its end.

    Otherwise as `open_packed`.
    """
    return open_packed(raw, "gzip", max_bytes)


def open_zstd(raw: BinaryIO, max_bytes: int | None = None, window: int = ZSTD_WINDOW_BYTES) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of all zstd frames of `raw`.

    It takes skippable frames, and frames that do not tell the size of their content. Otherwise as `open_packed`.
    """
    return open_packed(raw, "zstd", max_bytes, window)


def _gzip(raw: BinaryIO, _window: int) -> Read:
    stream: BinaryIO = igzip.open(raw, "rb")  # type: ignore[no-untyped-call]

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except _GZIP_FAULTS as fault:
            raise CodecError(f"gzip stream is cut or corrupt ({fault})") from fault

    return read


def _arrow(packed: str, raw: BinaryIO, _window: int = ZSTD_WINDOW_BYTES) -> Read:
    # Arrow's stream reports a frame that ends early; zstandard's stream_reader ends there without an error.
    stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), packed)

    def read(size: int) -> bytes | memoryview:
        try:
            # `stream.read` never frees the bytes that it reserved if it fails: Arrow's buffers do.
            block = stream.read_buffer(size)
            return memoryview(block).cast("B") if block.size else b""
        except MemoryError:  # Arrow's own OSErrors are ArrowExceptions too.
            raise
        except _ARROW_FAULTS as fault:
            if isinstance(fault, OSError) and fault.errno is not None:
                raise  # A number shows a fault of the machine: Arrow's own errors have none.
            raise _fault(packed, fault, ZSTD_WINDOW_BYTES) from fault

    return read


def _zstd(raw: BinaryIO, window: int) -> Read:
    """Arrow's decoder is faster; it takes no other limit than its own."""
    if window <= ZSTD_WINDOW_BYTES:
        return _arrow("zstd", raw)
    return _joined("zstd", _ZstdFrame, raw, window)


def _joined(packed: str, new: Callable[[int], _Decoder], raw: BinaryIO, window: int) -> Read:
    streams = _JoinedStreams(raw, partial(new, window))

    def read(size: int) -> bytes:
        try:
            return streams.read(size)
        except MemoryError:
            raise
        except _JOINED_FAULTS as fault:
            if isinstance(fault, OSError) and fault.errno is not None:
                raise
            raise _fault(packed, fault, window) from fault

    return read


def _new_bzip2(_window: int) -> _Decoder:
    return bz2.BZ2Decompressor()


def _new_xz(window: int) -> _Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=window + _XZ_STATE_BYTES)


def _fault(packed: str, fault: Exception, window: int) -> CodecError:
    require_memory(fault)
    if any(words in str(fault) for words in _WINDOW_FAULTS):
        return WindowError(f"{packed} window is over the limit of {window} bytes")
    return CodecError(f"{packed} stream is cut or corrupt ({fault})")


CODECS: Final[Mapping[str, Callable[[BinaryIO, int], Read]]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "bzip2": partial(_joined, "bzip2", _new_bzip2),
    "xz": partial(_joined, "xz", _new_xz),
    "lz4": partial(_arrow, "lz4"),
}
"""For each compression what returns a function that reads decompressed bytes, from a stream and the largest window."""
