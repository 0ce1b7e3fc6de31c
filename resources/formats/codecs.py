"""Decompression of gzip and zstd as buffered binary streams that never end early without an error."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
from isal import igzip, igzip_lib
from typing_extensions import override

from resources.errors import CorpusError

BUFFER_BYTES: Final = 1 << 20
ZSTD_WINDOW_BYTES: Final = 1 << 27
"""Largest zstd window that is decoded (`zstd --long=27`): the memory one open stream may take."""

RATIO: Final = 4096
"""Largest ratio of decompressed to compressed size by default; gzip never reaches more than 1032."""

FREE_BYTES: Final = 64 << 20
"""Decompressed bytes that are allowed whatever the ratio."""

_GZIP_FAULTS: Final = (
    *(gzip.BadGzipFile, zlib.error, EOFError, cast(type[Exception], igzip_lib.IsalError)),
    OverflowError,  # a header of more than 512 KiB
)
_ZSTD_FAULTS: Final = (OSError, cast(type[Exception], pa.ArrowException))
_WINDOW_FAULT: Final = "requires too much memory"


class CodecError(CorpusError):
    """A compressed stream is cut, corrupt, needs too large a window, or grows past its allowance."""


class _Decoded(io.RawIOBase):
    """A raw stream over a `read(size)` of decompressed bytes, with an allowance."""

    def __init__(self, read: Callable[[int], bytes], max_bytes: int | None) -> None:
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


def open_gzip(raw: BinaryIO, max_bytes: int | None = None) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of all gzip members of `raw`, without zero padding at its end.

    An empty `raw` gives no bytes. Reading raises `CodecError` when the stream is cut, corrupt, followed by
    other bytes, or longer than `max_bytes`. The caller closes `raw`.
    """
    stream: BinaryIO = igzip.open(raw, "rb")  # type: ignore[no-untyped-call]

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except _GZIP_FAULTS as fault:
            raise CodecError(f"gzip stream is cut or corrupt ({fault})") from fault

    return io.BufferedReader(_Decoded(read, max_bytes), BUFFER_BYTES)


def open_zstd(raw: BinaryIO, max_bytes: int | None = None) -> io.BufferedReader:
    """Returns a stream of the decompressed bytes of all zstd frames of `raw`.

    It takes skippable frames, and frames that do not tell the size of their content.

    An empty `raw` gives no bytes. Reading raises `CodecError` when a frame is cut or corrupt, when its window
    is over `ZSTD_WINDOW_BYTES`, or when the output is longer than `max_bytes`; what `raw` raises passes. The caller
    closes `raw`.
    """
    # Arrow's stream reports a frame that ends early; zstandard's stream_reader ends there without an error.
    stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")

    def read(size: int) -> bytes:
        try:
            return cast(bytes, stream.read(size))
        except MemoryError:  # Arrow's own OSErrors are ArrowExceptions too.
            raise
        except _ZSTD_FAULTS as fault:
            if isinstance(fault, OSError) and fault.errno is not None:
                raise  # A number shows a fault of the machine: Arrow's own errors have none.
            if _WINDOW_FAULT in str(fault):
                raise CodecError(f"zstd window is over the limit of {ZSTD_WINDOW_BYTES} bytes") from fault
            raise CodecError(f"zstd stream is cut or corrupt ({fault})") from fault

    return io.BufferedReader(_Decoded(read, max_bytes), BUFFER_BYTES)
