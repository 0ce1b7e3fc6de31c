"""The one reader of bytes from outside: a stream like any other, whose digest is of every byte that it gave."""

import io
import random
from errno import EIO
from typing import BinaryIO, cast

import pytest
import xxhash

from resources.outside.stream import BLOCK, OtherBytesError, OutsideStream

CONTENT = random.Random(1).randbytes(5 * BLOCK + 1234)


class Short(io.BytesIO):
    """Gives fewer bytes than it is asked for, as a stream over a network may."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size or 0, 70_000))


@pytest.mark.parametrize("source", [io.BytesIO, Short])
@pytest.mark.parametrize("content", [b"", b"x", CONTENT[:BLOCK], CONTENT[: 2 * BLOCK], CONTENT])
def test_it_reads_as_any_stream_and_digests_all_bytes_once(source: type[io.BytesIO], content: bytes) -> None:
    chance = random.Random(len(content))
    plain, stream = io.BytesIO(content), OutsideStream(cast(BinaryIO, source(content)))
    for _ in range(60):
        if chance.random() < 0.5:
            where, whence = chance.choice([(chance.randrange(len(content) + 9), 0), (0, 2), (0, 1)])
            assert stream.seek(where, whence) == plain.seek(where, whence)
        size = chance.choice([0, 1, 512, BLOCK, 3 * BLOCK, -1])
        assert stream.read(size) == plain.read(size)
        assert stream.tell() == plain.tell()
    assert stream.drained() == xxhash.xxh3_128_hexdigest(content)
    assert stream.passed == len(content)


def test_lines_through_a_buffer() -> None:
    content = b"".join(b"%d\n" % number * 3 for number in range(200_000))
    buffered = io.BufferedReader(OutsideStream(cast(BinaryIO, io.BytesIO(content))), 1 << 16)
    assert list(buffered) == content.splitlines(keepends=True)


def test_what_is_read_twice_has_to_be_the_same() -> None:
    changing = io.BytesIO(CONTENT)
    stream = OutsideStream(cast(BinaryIO, changing))
    stream.drained()
    for _ in range(20):
        stream.seek(0)
        assert stream.read(100) == CONTENT[:100]
        stream.seek(4 * BLOCK)
        stream.read(BLOCK)
    stream._kept.clear()
    changing.seek(77)
    changing.write(bytes([CONTENT[77] ^ 4]))
    stream.seek(0)
    with pytest.raises(OtherBytesError, match="bytes from 0 on were others when they were read again"):
        stream.read(10)
    assert isinstance(stream.fault, OtherBytesError)


def test_an_error_is_noted_and_the_next_read_is_at_its_place() -> None:
    class Failing(io.BytesIO):
        left = 1

        def read(self, size: int | None = -1) -> bytes:
            content = super().read(size)
            if self.tell() > 2 * BLOCK and self.left:
                self.left -= 1
                raise OSError(EIO, "broken")
            return content

    stream = OutsideStream(cast(BinaryIO, Failing(CONTENT)))
    with pytest.raises(OSError, match="broken"):
        stream.read()
    assert isinstance(stream.fault, OSError)
    stream.seek(0)
    assert stream.read() == CONTENT


@pytest.mark.parametrize("fails", [io.SEEK_SET, io.SEEK_END])
def test_a_place_that_cannot_be_sought_is_noted_too(fails: int) -> None:
    """A reader may take the error for the end of the file."""

    class Failing(io.BytesIO):
        def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
            if whence == fails:
                raise OSError(EIO, "broken")
            return super().seek(place, whence)

    stream = OutsideStream(cast(BinaryIO, Failing(CONTENT)))

    def read_the_rest() -> None:
        stream.read(1)
        stream.seek(0, io.SEEK_END)
        stream.seek(1)
        stream.read()

    with pytest.raises(OSError, match="broken"):
        read_the_rest()
    assert isinstance(stream.fault, OSError)


def test_a_part_that_nobody_wanted_is_digested_too() -> None:
    stream = OutsideStream(cast(BinaryIO, io.BytesIO(CONTENT)))
    stream.seek(-10, io.SEEK_END)
    assert stream.read() == CONTENT[-10:]
    assert stream.drained() == xxhash.xxh3_128_hexdigest(CONTENT)
