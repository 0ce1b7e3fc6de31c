"""JSON lines in compressed members (`.jsonl.gz`, `.jsonl.zst`, `.jsonl.lz4`)."""

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np
import xxhash
from numpy.typing import NDArray
from typing_extensions import override

from resources.formats.documents import Document, encode_document
from resources.formats.file_format import FileFormat, Open, blocks_of, stream_digest
from resources.formats.jsonl.compressions import GZIP, LZ4, Compression, open_rows
from resources.formats.jsonl.members import MEMBER, Member, made
from resources.formats.writers import Writer, Written

MEMBER_BYTES = 1 << 16
"""Bytes of lines in a full member. Larger members are more rarely copied or skipped whole; smaller compress worse."""

_WRITTEN_AT_ONCE = 1 << 20


class LineWriter(Writer):
    """Writes lines as compressed members; the content digest is that of the lines."""

    def __init__(self, file: BinaryIO, compression: Compression = GZIP) -> None:
        self._file = file
        self._compression = compression
        self._hash = xxhash.xxh3_128()
        self._lines: list[bytes] = []
        self._held = 0
        self._stored: list[bytes] = []
        self._waiting = 0
        self._table = bytearray()
        self._rows = 0
        self._bytes = 0

    def write(self, line: bytes) -> None:
        """Adds one line, newline included."""
        self._lines.append(line)
        self._held += len(line)
        if self._held >= MEMBER_BYTES:
            self._flush()

    def copy(self, member: Member) -> None:
        """Adds the lines of a member of another file, as they are stored there if they are compressed as here."""
        self._flush()
        self._put(member.compressed_by(self._compression))

    def table(self) -> NDArray[np.void]:
        """Returns the table of all members, shape (members,), once the file is finished."""
        return np.frombuffer(self._table, dtype=MEMBER)

    def _flush(self) -> None:
        if self._lines:
            self._put(made(b"".join(self._lines), len(self._lines), self._compression))
            self._lines.clear()
            self._held = 0

    def _put(self, member: Member) -> None:
        self._hash.update(member.content)
        self._rows += member.rows
        self._bytes += len(member.content)
        described = np.zeros(1, dtype=MEMBER)
        described["rows"], described["stored"], described["bytes"] = (
            member.rows,
            len(member.stored),
            len(member.content),
        )
        described["digest"] = np.frombuffer(member.digest, dtype=np.uint8)
        self._table += described.tobytes()
        self._stored.append(member.stored)
        self._waiting += len(member.stored)
        if self._waiting >= _WRITTEN_AT_ONCE:
            self._write()

    def _write(self) -> None:
        self._file.write(b"".join(self._stored))
        self._stored.clear()
        self._waiting = 0

    @override
    def _complete(self) -> Written:
        self._flush()
        if not self._rows:
            self._stored.append(self._compression.compress(b""))
        self._write()
        return Written(self._hash.hexdigest(), self._rows, self._bytes)


class DocumentWriter(LineWriter):
    """Writes documents, one per row."""

    def add(self, document: Document) -> None:
        """Adds one document."""
        self.write(encode_document(document))


def digest_of_lines(open_file: Open, path: str) -> str:
    """Returns the digest of the lines of a file."""
    with open_file(path) as raw, open_rows(raw, path) as content:
        return stream_digest(blocks_of(content))


def first_lines(open_file: Open, path: str, rows: int) -> Iterator[str]:
    """Yields the first lines of a file as text."""
    with open_file(path) as raw, open_rows(raw, path) as lines:
        yield from (line.decode().rstrip("\n") for line in islice(lines, rows))


LINES = tuple(FileFormat(one.ending, digest_of_lines, first_lines) for one in (GZIP, LZ4))
"""Rows in compressions in which they are never cut into segments."""
