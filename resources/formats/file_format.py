"""A file format of the store, as `corpus verify` and `corpus show` use it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

import xxhash

BLOCK_BYTES = 1 << 20
Open = Callable[[str], BinaryIO]
"""Opens a stored file by its path."""


@dataclass(frozen=True)
class FileFormat:
    """One file format.

    suffix: how the paths of such files end.
    digest: computes the content digest of a file from what is stored; equal to the digest that its writer took.
    preview: yields lines that show a person the first rows.
    of_content: computes the digest from the stored bytes, for formats that need nothing else.
    by_address: whether reading follows addresses in the file, so that a wrong one may lead it anywhere, and round in
        circles.
    """

    suffix: str
    digest: Callable[[Open, str], str]
    preview: Callable[[Open, str, int], Iterator[str]]
    of_content: Callable[[bytes, str], str] | None = None
    by_address: bool = False


def stream_digest(blocks: Iterable[bytes]) -> str:
    """Returns the xxh3-128 of bytes, however they are cut into blocks, as 32 hex digits."""
    hasher = xxhash.xxh3_128()
    for block in blocks:
        hasher.update(block)
    return hasher.hexdigest()


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a file block by block."""
    return iter(lambda: file.read(BLOCK_BYTES), b"")


def _whole_digest(open_file: Open, path: str) -> str:
    with open_file(path) as file:
        return stream_digest(blocks_of(file))


def _first_lines(open_file: Open, path: str, rows: int) -> Iterator[str]:
    with open_file(path) as file:
        start = file.read(BLOCK_BYTES)
    try:
        yield from islice(start.decode().splitlines(), rows)
    except UnicodeDecodeError:
        yield "(no text)"


def _digest_of_content(content: bytes, path: str) -> str:
    del path
    return xxhash.xxh3_128_hexdigest(content)


PLAIN = FileFormat("", _whole_digest, _first_lines, _digest_of_content)
"""Any other file: its digest is over the bytes as they are stored."""
