"""The members of a file of rows: some rows each, compressed by themselves, which can be read alone.

Their table lies in a derived file beside it.
"""

from typing import NamedTuple

import numpy as np
import xxhash

from resources.errors import LedgerError
from resources.formats.codecs import CodecError
from resources.formats.jsonl.compressions import Compression, without_suffix

TABLE = ".members.npy"
"""Suffix of the table, in place of that of the rows."""

MEMBER = np.dtype([("rows", "<u4"), ("stored", "<u4"), ("bytes", "<u4"), ("digest", "u1", (16,))])
"""Rows of a member, its bytes as they are stored and uncompressed, and the xxh3-128 of the latter."""


class Member(NamedTuple):
    """One member. stored: as it lies in the file. content: the lines it holds. compression: of the former."""

    rows: int
    stored: bytes
    content: bytes
    digest: bytes
    compression: Compression

    def lines(self) -> list[bytes]:
        """Returns its lines, newline included."""
        return [line + b"\n" for line in self.content.split(b"\n")[:-1]]

    def compressed_by(self, compression: Compression) -> "Member":
        """Returns a member with the same lines, this one if it is compressed so."""
        if compression is self.compression:
            return self
        return self._replace(stored=compression.compress(self.content), compression=compression)


def made(content: bytes, rows: int, compression: Compression) -> Member:
    """Returns lines as a member."""
    return Member(rows, compression.compress(content), content, xxhash.xxh3_128_digest(content), compression)


def read(stored: bytes, row: np.void, compression: Compression) -> Member:
    """Returns the member that a row of the table describes; `LedgerError` if `stored` is another or damaged."""
    try:
        content = compression.decompress(stored, int(row["bytes"]))
    except CodecError as error:
        raise LedgerError(f"damaged member: {error}") from None
    digest = xxhash.xxh3_128_digest(content)
    if digest != row["digest"].tobytes():
        raise LedgerError("damaged member: other content than its table says")
    return Member(int(row["rows"]), stored, content, digest, compression)


def table_path(path: str) -> str:
    """Returns where the table of a file of rows lies."""
    return without_suffix(path) + TABLE
