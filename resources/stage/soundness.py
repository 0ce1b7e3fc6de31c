"""Checks files against the digests in their partition's record while they are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import BinaryIO, TypeVar

import numpy as np
import xxhash

from resources.errors import CorpusError, DamagedCopyError, DamagedFileError, LedgerError, is_of_the_machine
from resources.formats.codecs import CodecError
from resources.formats.file_format import blocks_of
from resources.formats.jsonl.compressions import compression_of
from resources.formats.jsonl.long_lines import PIECE_BYTES
from resources.formats.jsonl.members import Member
from resources.formats.jsonl.members import read as read_member
from resources.formats.known import fault_of, format_of, stored_fault
from resources.formats.segments import Segment, small_segment_lines
from resources.hashing import sized_hasher
from resources.ledger.ledger import FileRecord, Record
from resources.stage.small_files import SmallFiles
from resources.storage.interface import Storage
from resources.stored_digest import ReadFile, digest_of

V = TypeVar("V")
Version = tuple[str, str, int, str, str]
"""A stored file in a certain state: store, path, bytes, version and digest."""

_FOUND_SOUND: set[Version] = set()
"""Files that this process found sound. One entry per file, not per reader."""

_OF_CONTENT = (CodecError, LedgerError)
"""Errors that show damage while lines are read: of the stream, a segment or a member. Errors of the store are not."""

SMALL = 1 << 16  # Up to so many bytes, reading a whole file once costs less than two reads.
_KEPT = SmallFiles(64 << 20)


class CheckedFiles:
    """The files of one partition, each checked against its record as it is read.

    A stream is checked at its end, any other file before its first use, once per process and version of the file.
    Damage is a `DamagedFileError`; errors of the machine or of the store are raised unchanged. If only the local copy
    is damaged, streams raise `DamagedCopyError` and may be read again; other readers try again here.

    compared: False for asset checks, which report faults of the content themselves.
    """

    __slots__ = ("_begun", "_compared", "_record", "_sound", "_storage")

    def __init__(self, storage: Storage, record: Record, *, compared: bool = True) -> None:
        self._compared = compared
        self._storage = storage
        self._record = record
        self._sound: set[str] = set()
        self._begun: dict[str, FileRecord] = {}

    def damaged(self, file: FileRecord, problem: str) -> CorpusError:
        """Returns the error for a damaged file, or for a damaged local copy, which it removes."""
        if self._storage.forget_copy(file.path) and self._compared and self._is_sound_in_store(file):
            return DamagedCopyError(f"{file.path}: a copy of it on this machine was damaged and is removed ({problem})")
        return DamagedFileError(self._record.asset, self._record.partition, file.path, problem)

    def _is_sound_in_store(self, file: FileRecord) -> bool:
        return fault_of(self._storage.from_store, file.path, file.digest, file.stored) is None

    def open(self, file: FileRecord) -> BinaryIO:
        """Opens a file without a check."""
        try:
            return self._opened(file.path)
        except FileNotFoundError:
            raise self.damaged(file, "is missing") from None

    def _opened(self, path: str) -> BinaryIO:
        size = next((file.bytes for file in self._record.files if file.path == path), None)
        return (self._storage.at_hand(path, size) if self._compared else None) or self._storage.open(path)

    def read(self, file: FileRecord, offset: int, size: int) -> bytes:
        """Returns bytes of a file without a check."""
        try:
            return self._storage.read(file.path, offset, size)
        except FileNotFoundError:
            raise self.damaged(file, "is missing") from None

    def content(self, file: FileRecord, *, keep: bool = True) -> bytes:
        """Returns the whole of a file, checked; a small one is kept for the next reader in this process.

        keep: False if the reader keeps it itself.
        """
        if file.bytes > SMALL or not self._compared:
            return self._read_whole(file)
        known = (self._storage.identity, file.path, file.digest)
        content = _KEPT.get(known)
        if content is None:
            content = self._read_whole(file)
            if keep:
                _KEPT.keep(known, content)
        self._sound.add(file.path)
        return content

    def unchecked(self, file: FileRecord) -> bytes:
        """Returns the whole of a small file without a check; one byte more if it is longer than recorded."""
        try:
            return self._storage.small(file.path, file.bytes)
        except FileNotFoundError:
            raise self.damaged(file, "is missing") from None

    def _read_whole(self, file: FileRecord) -> bytes:
        return self._again(self._read_once, file)

    def _again(self, check: Callable[[FileRecord], V], file: FileRecord) -> V:
        """Returns the result of a check; repeats the check once after a damaged copy was removed."""
        try:
            return check(file)
        except DamagedCopyError:
            return check(file)

    def _read_once(self, file: FileRecord) -> bytes:
        if not self._compared:
            with self.open(file) as stored:
                return stored.read()
        content = self.unchecked(file) if file.bytes <= SMALL else self._long(file)
        if len(content) != file.bytes:
            self._version(file)
        self._compare(file, self._digest_of(file, content))
        return content

    def _long(self, file: FileRecord) -> bytes:
        with self.open(file) as stored:
            return stored.read(file.bytes + 1)

    def _digest_of(self, file: FileRecord, content: bytes) -> str:
        def opening(path: str) -> BinaryIO:
            """Opens the file, or another one that its format has beside it."""
            return BytesIO(content) if path == file.path else self._opened(path)

        of_content = format_of(file.path).of_content
        if of_content is None:
            return self._digest(file, opening)
        try:
            return of_content(content, file.path)
        except LedgerError as error:
            raise self.unreadable(file, error) from None

    def _version(self, file: FileRecord) -> Version:
        """Returns what a stored file is now; `DamagedFileError` if it is missing or has another size."""
        entry = self._storage.stat(file.path)
        if entry is None:
            raise self.damaged(file, "is missing")
        if entry.bytes != file.bytes:
            raise self.damaged(file, f"has {entry.bytes} bytes, its record says {file.bytes}")
        return self._storage.identity, file.path, entry.bytes, entry.version, file.digest

    def _known_version(self, file: FileRecord) -> Version:
        """Returns the present state of a file; without asking the store if its content can never change."""
        if self._storage.is_fixed(file.path):
            return self._storage.identity, file.path, file.bytes, "", file.digest
        return self._version(file)

    def lines(self, file: FileRecord, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the lines of a file, or blocks of them, and compares them at their end with its digest over them."""
        self._begun[file.path] = file
        digest = xxhash.xxh3_128()
        long: list[bytes] = []
        try:
            for line in lines:
                digest.update(line)
                if len(line) < PIECE_BYTES:
                    yield line
                    continue
                long.append(line)
                del line
                yield long.pop()  # While the reader works on it, nothing here holds it.
        except _OF_CONTENT as error:
            raise self.damaged(file, str(error)) from None
        self._compare(file, digest.hexdigest())
        self._sound.add(file.path)

    def blocks(self, file: FileRecord) -> Iterator[bytes]:
        """Yields a file as it is stored, and compares it at its end with the digest of its stored bytes."""
        self._begun[file.path] = file
        with self.open(file) as stored:
            raw, watched = ReadFile.opened(stored)
            yield from blocks_of(watched)
            found = raw.stored_digest()
        if self._compared and (fault := stored_fault(found, file.stored)):
            raise self.damaged(file, fault)
        self._sound.add(file.path)

    def segment(self, file: FileRecord, lines: Iterator[bytes]) -> Iterator[bytes]:
        """Yields the lines of a segment, which are checked by what reads them."""
        begun = file.path not in self._begun
        self._begun[file.path] = file
        try:
            yield from lines
        except _OF_CONTENT as error:
            raise self.damaged(file, str(error)) from None
        if begun:
            del self._begun[file.path]

    def small_segment(self, file: FileRecord, frames: bytes, segment: Segment) -> list[bytes] | None:
        """Returns the lines of a segment, checked, if it is small enough to be read at once; else None."""
        try:
            return small_segment_lines(frames, segment)
        except _OF_CONTENT as error:
            raise self.damaged(file, str(error)) from None

    def segment_bytes(
        self, file: FileRecord, segment: str, offset: int, size: int, block: int, *, before: Sequence[bytes]
    ) -> Iterator[bytes]:
        """Yields `size` bytes of a file in blocks, and compares them at their end with the digest of that segment.

        before: parts of the segment's content that come before these bytes. A small file is compared as a whole: a
        record is written at once, so a file with its recorded digest has those of its segments too.
        """
        if file.bytes <= SMALL:
            if size:
                yield self._slice(file, offset, offset + size)
            return
        hasher = sized_hasher(size, *before)
        for start in range(offset, offset + size, block):
            stop = min(start + block, offset + size)
            content = self.read(file, start, stop - start)
            if len(content) != stop - start:
                raise self.damaged(file, f"is cut off: {len(content)} of {stop - start} bytes at {start}")
            hasher.update(content)
            yield content
        if self._compared and (found := hasher.hexdigest()) != self._record.digest_of(segment):
            told = self._record.digest_of(segment)
            raise self.damaged(file, f"content digest of segment {segment} is {found}, its record says {told}")

    def _slice(self, file: FileRecord, start: int, stop: int) -> bytes:
        content = self.content(file)[start:stop]
        if len(content) != stop - start:
            raise self.damaged(file, f"is cut off: {len(content)} of {stop - start} bytes at {start}")
        return content

    def member(self, file: FileRecord, stored: bytes, described: np.void) -> Member:
        """Returns a member of a file, checked against its row in the table of members, which is checked itself."""
        try:
            return read_member(stored, described, compression_of(file.path))
        except _OF_CONTENT as error:
            raise self.damaged(file, str(error)) from None

    def require_sound(self, file: FileRecord) -> None:
        """Raises `DamagedFileError` unless the whole file is as recorded; reads it in blocks if it was not read yet."""
        if file.path in self._sound or not self._compared:
            return
        self._again(self._check, file)

    def _check(self, file: FileRecord) -> None:
        version = self._known_version(file)
        if version not in _FOUND_SOUND:
            if file.stored:
                self._compare_stored(file)
            else:
                self._compare(file, self._digest(file, self._opened))
            _FOUND_SOUND.add(version)
        self._sound.add(file.path)

    def _compare_stored(self, file: FileRecord) -> None:
        """Compares all bytes of a file: its next reader may read bytes that the project's reader skips."""
        with self.open(file) as stored:
            fault = stored_fault(digest_of(stored), file.stored)
        if fault:
            raise self.damaged(file, fault)

    def require_all_begun_sound(self) -> None:
        """Raises `DamagedFileError` for a file that was begun, not read to its end, and is not as recorded.

        Then forgets which were begun, since the next job of the process may get the same handle.
        """
        while self._begun:
            self.require_sound(self._begun.popitem()[1])

    def _digest(self, file: FileRecord, opening: Callable[[str], BinaryIO]) -> str:
        try:
            return format_of(file.path).digest(opening, file.path)
        except Exception as error:  # libraries raise almost anything over a damaged file
            if is_of_the_machine(error):
                raise
            raise self.unreadable(file, error) from None

    def unreadable(self, file: FileRecord, error: Exception) -> CorpusError:
        """Returns an error that was raised while a file was read, as damage of the file."""
        return self.damaged(file, f"cannot be read: {type(error).__name__}: {error}")

    def _compare(self, file: FileRecord, found: str) -> None:
        if self._compared and found != file.digest:
            raise self.damaged(file, f"content digest is {found}, its record says {file.digest}")
