import errno
import gzip
import io
import itertools
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import StoreAccessError
from resources.formats.codecs import ZSTD_WINDOW_BYTES, CodecError, open_gzip, open_zstd

Opener = Callable[[BinaryIO], io.BufferedReader]
SKIPPABLE_FRAME = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def zstd_frame(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


CODECS = [
    pytest.param(gzip.compress, open_gzip, id="gzip"),
    pytest.param(zstd_frame, open_zstd, id="zstd"),
]
Compress = Callable[[bytes], bytes]


@pytest.mark.parametrize(("compress", "opener"), CODECS)
@given(parts=st.lists(st.binary(max_size=2000), max_size=4))
def test_members_and_frames_are_read_across(compress: Compress, opener: Opener, parts: list[bytes]) -> None:
    raw = io.BytesIO(b"".join(compress(part) for part in parts))
    assert opener(raw).read() == b"".join(parts)


@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_a_cut_anywhere_is_an_error_or_a_clean_end(compress: Compress, opener: Opener) -> None:
    contents = [b"first line\n" * 50, b"", bytes(range(256)) * 3]
    packed = [compress(content) for content in contents]
    ends = dict(zip(itertools.accumulate(map(len, packed)), itertools.accumulate(contents), strict=True))
    whole = b"".join(packed)
    for cut in range(1, len(whole) + 1):
        stream = opener(io.BytesIO(whole[:cut]))
        if cut in ends:
            assert stream.read() == ends[cut]
        else:
            with pytest.raises(CodecError, match="cut or corrupt"):
                stream.read()


@pytest.mark.parametrize(("compress", "opener"), CODECS)
@given(position=st.integers(0), flip=st.integers(1, 255))
def test_a_changed_byte_never_changes_content(compress: Compress, opener: Opener, position: int, flip: int) -> None:
    content = b"the quick brown fox " * 40
    packed = bytearray(compress(content))
    packed[position % len(packed)] ^= flip
    try:
        decoded = opener(io.BytesIO(bytes(packed))).read()
    except CodecError:
        return
    assert decoded == content  # a byte of the header that says nothing about the content


@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_bytes_after_the_end_are_an_error(compress: Compress, opener: Opener) -> None:
    for rest in (b"x", b"garbage that is no stream", b"\0\0\0x"):
        with pytest.raises(CodecError):
            opener(io.BytesIO(compress(b"abc") + rest)).read()


@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_output_past_the_allowance_is_an_error(compress: Compress, opener: Opener) -> None:
    packed = compress(b"A" * 5_000_000)
    limited = open_gzip if opener is open_gzip else open_zstd
    assert len(limited(io.BytesIO(packed), 5_000_000).read()) == 5_000_000
    with pytest.raises(CodecError, match="more than the 4999999 bytes"):
        limited(io.BytesIO(packed), 4_999_999).read()


def test_gzip_zero_padding_is_no_data() -> None:
    assert open_gzip(io.BytesIO(gzip.compress(b"abc") + bytes(3000))).read() == b"abc"


def test_zstd_skippable_frames_and_unknown_sizes() -> None:
    compressor = zstandard.ZstdCompressor().compressobj()
    unsized = compressor.compress(b"abc") + compressor.flush()
    assert open_zstd(io.BytesIO(SKIPPABLE_FRAME + unsized + SKIPPABLE_FRAME)).read() == b"abc"
    for cut in range(1, len(SKIPPABLE_FRAME)):
        with pytest.raises(CodecError):
            open_zstd(io.BytesIO(unsized + SKIPPABLE_FRAME[:cut])).read()


def test_zstd_window_limit() -> None:
    for log, fits in ((ZSTD_WINDOW_BYTES.bit_length() - 1, True), (ZSTD_WINDOW_BYTES.bit_length(), False)):
        parameters = zstandard.ZstdCompressionParameters(window_log=log)
        compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        frame = compressor.compress(b"abc") + compressor.flush()
        if fits:
            assert open_zstd(io.BytesIO(frame)).read() == b"abc"
        else:
            with pytest.raises(CodecError, match="window is over the limit of 134217728 bytes"):
                open_zstd(io.BytesIO(frame)).read()


class _Failing(io.RawIOBase):
    """Gives its bytes, and then an error."""

    def __init__(self, content: bytes, error: OSError) -> None:
        self._content = io.BytesIO(content)
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._content.readinto(buffer)
        if not found:
            raise self._error
        return found


@pytest.mark.parametrize(("compress", "opener"), CODECS)
@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "Input/output error"), OSError(errno.ENOSPC, "full"), StoreAccessError("no answer")]
)
def test_a_machine_that_cannot_read_is_not_taken_for_a_damaged_stream(
    compress: Compress, opener: Opener, error: OSError
) -> None:
    with pytest.raises(type(error)) as raised:
        opener(cast(BinaryIO, _Failing(compress(bytes(range(256)) * 3)[:-20], error))).read()
    assert raised.value.errno == error.errno
