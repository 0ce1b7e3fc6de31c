import errno
import gzip
import io
import itertools
import lzma
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from resources.errors import StoreAccessError
from resources.formats.codecs import (
    ZSTD_WINDOW_BYTES,
    CodecError,
    WindowError,
    open_gzip,
    open_packed,
    open_zstd,
    require_memory,
)
from tests.raw.packings import PACK, lz4_frame, zstd_frame

Opener = Callable[..., io.BufferedReader]
SKIPPABLE_FRAME = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def open_wide_zstd(raw: BinaryIO, max_bytes: int | None = None) -> io.BufferedReader:
    return open_zstd(raw, max_bytes, 2 * ZSTD_WINDOW_BYTES)


def opener_of(packed: str) -> Opener:
    return lambda raw, max_bytes=None: open_packed(raw, packed, max_bytes)


CODECS = [
    pytest.param(gzip.compress, open_gzip, id="gzip"),
    pytest.param(zstd_frame, open_zstd, id="zstd"),
    pytest.param(zstd_frame, open_wide_zstd, id="zstd of large windows"),
    pytest.param(PACK["bz2"], opener_of("bzip2"), id="bzip2"),
    pytest.param(PACK["xz"], opener_of("xz"), id="xz"),
    pytest.param(PACK["lz4"], opener_of("lz4"), id="lz4"),
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


class _Outage(io.RawIOBase):
    """A stream over a store that gives a few bytes and then stops answering."""

    def __init__(self, content: bytes) -> None:
        self._left = content[:9]

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        if not self._left:
            raise StoreAccessError("the store does not answer")
        found, self._left = self._left, b""
        buffer[: len(found)] = found
        return len(found)


@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_an_outage_is_no_corrupt_stream(compress: Compress, opener: Opener) -> None:
    with pytest.raises(StoreAccessError, match="does not answer"):
        opener(io.BufferedReader(_Outage(compress(bytes(range(256)) * 3)))).read()


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
    assert len(opener(io.BytesIO(packed), 5_000_000).read()) == 5_000_000
    with pytest.raises(CodecError, match="more than the 4999999 bytes"):
        opener(io.BytesIO(packed), 4_999_999).read()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells how much memory a process has reserved")
@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_streams_that_fail_reserve_no_memory_for_good(compress: Compress, opener: Opener) -> None:
    cut, asked = compress(b"some text, " * 1000)[:-5], 4 << 20

    def reserved() -> int:
        with pytest.raises(CodecError):
            opener(io.BytesIO(cut)).read(asked)
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

    before = max(reserved() for _ in range(10))
    assert max(reserved() for _ in range(40)) - before < 10 * asked


_WITHOUT_MEMORY = """if True:
    import io, resource
    from pathlib import Path
    import zstandard
    from resources.formats.codecs import open_zstd
    from resources.formats.segments import Segment, segment_lines

    wide = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=26)).compressobj()
    wide = wide.compress(b"a line\\n" * (1 << 23)) + wide.flush()
    open_zstd(io.BytesIO(zstandard.compress(b"x"))).read()
    whole = Segment(0, len(wide), 1 << 23, 7 << 23, "")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 3_000_000,) * 2)
    for read in (
        lambda: open_zstd(io.BytesIO(wide)).read(4096),
        lambda: open_zstd(io.BytesIO(wide), window=1 << 28).read(4096),
        lambda: next(segment_lines(wide, whole)),
    ):
        try:
            read()
        except MemoryError:
            print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no memory of a process")
def test_a_machine_without_memory_for_a_window_is_no_damage() -> None:
    code = [sys.executable, "-c", _WITHOUT_MEMORY]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:-1] == ["no memory"] * 3, done.stderr


def test_words_of_decoders_without_memory_are_known() -> None:
    for words in ("Allocation error : not enough memory", "ERROR_allocation_failed"):
        with pytest.raises(MemoryError, match=words):
            require_memory(OSError(f"LZ4 decompress failed: {words}"))
    require_memory(OSError("ZSTD decompress failed: Data corruption detected"))


@pytest.mark.parametrize("packed", ["gzip", "bzip2", "xz"])
def test_zero_padding_is_no_data(packed: str) -> None:
    compress = {"gzip": PACK["gz"], "bzip2": PACK["bz2"], "xz": PACK["xz"]}[packed]
    assert open_packed(io.BytesIO(compress(b"abc") + bytes(3000)), packed).read() == b"abc"
    with pytest.raises(CodecError, match="cut or corrupt"):
        open_packed(io.BytesIO(bytes(3000)), packed).read()


@pytest.mark.parametrize(("compress", "opener"), CODECS)
def test_very_many_small_streams_are_read(compress: Compress, opener: Opener) -> None:
    assert opener(io.BytesIO((compress(b"a") + compress(b"")) * 3000)).read() == b"a" * 3000


def test_an_lz4_frame_with_a_dictionary_or_of_the_old_kind_is_an_error() -> None:
    content = b"0123456789" * 10
    with_dictionary = lz4_frame(content, b"\x75\x40", (7).to_bytes(4, "little"))
    behind = bytearray(with_dictionary)
    behind[11 + 4 :] = b"\x0f\x20\x00" + behind[11 + 4 + 3 :]  # the block begins with a copy of what is before it
    for faulty in (bytes(behind), b"\x02\x21\x4c\x18" + with_dictionary[4:]):
        with pytest.raises(CodecError, match="lz4 stream is cut or corrupt"):
            open_packed(io.BytesIO(faulty), "lz4").read()


def test_an_xz_dictionary_has_the_limit_of_a_window() -> None:
    large = lzma.compress(b"abc", preset=9)  # a dictionary of 64 MiB
    assert open_packed(io.BytesIO(large), "xz", None, 64 << 20).read() == b"abc"
    with pytest.raises(WindowError, match="xz window is over the limit of 33554432 bytes"):
        open_packed(io.BytesIO(large), "xz", None, 32 << 20).read()


def test_a_zstd_window_over_the_usual_limit_is_read_if_it_is_allowed() -> None:
    def frame(log: int) -> bytes:
        parameters = zstandard.ZstdCompressionParameters(window_log=log, write_checksum=True)
        compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        return compressor.compress(b"abc" * 5000) + compressor.flush()

    wide, wider = frame(28), frame(29)
    assert open_wide_zstd(io.BytesIO(SKIPPABLE_FRAME + wide + wide)).read() == b"abc" * 10000
    with pytest.raises(WindowError, match="over the limit of 268435456 bytes"):
        open_wide_zstd(io.BytesIO(wide + wider)).read()


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
