"""The members of a `.jsonl.gz` file: gzip streams of some rows each, one after another, which can be read alone.

Their table lies in a derived file beside it. Any program that reads gzip reads all members as one stream (RFC 1952).
"""

from typing import Final, NamedTuple, cast

import numpy as np
import xxhash
from isal import isal_zlib

from resources.errors import LedgerError

TABLE = ".members.npy"
"""Suffix of the table, in place of `.jsonl.gz`."""

MEMBER = np.dtype([("rows", "<u4"), ("stored", "<u4"), ("bytes", "<u4"), ("digest", "u1", (16,))])
"""Rows of a member, its bytes as they are stored and uncompressed, and the xxh3-128 of the latter."""

GZIP_LEVEL = 1
_GZIP = 31
_FAULT: Final = cast(type[Exception], isal_zlib.error)


class Member(NamedTuple):
    """One member. stored: as it lies in the file. content: the lines it holds."""

    rows: int
    stored: bytes
    content: bytes
    digest: bytes

    def lines(self) -> list[bytes]:
        """Returns its lines, newline included."""
        return [line + b"\n" for line in self.content.split(b"\n")[:-1]]


def made(content: bytes, rows: int) -> Member:
    """Returns lines as a member, whose header has no name and no time; see `write_hdf5` on equal bytes."""
    stored = isal_zlib.compress(content, GZIP_LEVEL, _GZIP)
    return Member(rows, stored, content, xxhash.xxh3_128_digest(content))


def read(stored: bytes, row: np.void) -> Member:
    """Returns the member that a row of the table describes; `LedgerError` if `stored` is another or damaged."""
    decoder = isal_zlib.decompressobj(_GZIP)
    try:
        # One byte more than recorded shows a longer content, without decompressing all of it.
        content = decoder.decompress(stored, int(row["bytes"]) + 1)
    except _FAULT as error:
        raise LedgerError(f"damaged member: {error}") from None
    if not decoder.eof or decoder.unused_data:
        raise LedgerError("damaged member: it does not end where its table says")
    digest = xxhash.xxh3_128_digest(content)
    if digest != row["digest"].tobytes():
        raise LedgerError("damaged member: other content than its table says")
    return Member(int(row["rows"]), stored, content, digest)


def table_path(path: str) -> str:
    """Returns where the table of a `.jsonl.gz` file lies."""
    return path.removesuffix(".jsonl.gz") + TABLE
