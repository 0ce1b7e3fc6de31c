"""A raw file while a task reads it: the bytes that were read are compared with the file's recorded digest.

To a format, a faulty reading (a flipped byte, an early end, a file that would not open) looks like a bad or shorter
file. So the rest of the file is always read after the rows, and a task commits nothing if it did not read the recorded
bytes.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import BinaryIO, Final, cast

from typing_extensions import override

from resources.errors import BadFileError, CorpusError, DamagedFileError, StorageError, file_fault
from resources.ledger.ledger import Record
from resources.outside.stream import OtherBytesError, OutsideStream
from resources.shards.listing import Shard, digest_together

RAW_SOURCE_INPUTS: Final = {"file", "name"}
"""The inputs in the record of a raw file: the digests of its bytes and of its path."""

_WORDS: Final = "bytes were read that are not those of its recorded digest, so one of two readings went wrong"


class RawReading:
    """The streams of one raw file and of the files that it lists.

    shard: the file. record: of the asset that took its digest; None to read without comparing.
    """

    def __init__(self, shard: Shard, record: Record | None) -> None:
        self._shard = shard
        self._record = record
        self._open: set[_Noted] = set()
        self._digests: dict[str | None, set[str]] = {}
        self._not_opened = ""
        self._faults: list[Exception] = []

    def open(self) -> BinaryIO:
        """Opens the raw bytes, as `Shard.open`."""
        return self._opened(None, self._shard.open)

    def open_member(self, member: str) -> BinaryIO:
        """Opens a file that a text list names, as `Shard.open_member`."""
        return self._opened(member, partial(self._shard.open_member, member))

    def require_right(self) -> None:
        """Raises an error unless the bytes that were read are the recorded ones; reads the rest of the file for that.

        `StorageError` if the file changed since it was listed. Otherwise `DamagedFileError` for the asset with the
        digest: one of two readings of the same bytes was faulty, so both are repeated.
        """
        for stream in list(self._open):
            stream.close()
        if self._record is None or self._shard.problem or not (self._digests or self._faults or self._not_opened):
            return
        if self._is_as_recorded(self._record.inputs.get("file")):
            return
        if self._shard.changed():
            raise StorageError(f"{self._shard.label} changed while it was being read; build again")
        problem = f"could not be opened: {self._not_opened}" if self._not_opened else _WORDS
        raise DamagedFileError(self._record.asset, self._record.partition, self._shard.label, problem)

    def close(self) -> None:
        """Closes what is open, without reading on."""
        for stream in list(self._open):
            stream.let_go()

    def _opened(self, name: str | None, opening: Callable[[], BinaryIO]) -> BinaryIO:
        try:
            source = opening()
        except BadFileError as error:
            self._not_opened = error.problem
            raise
        stream = _Noted(source, partial(self._take, name))
        self._open.add(stream)
        return cast(BinaryIO, stream)

    def _take(self, name: str | None, stream: "_Noted", digest: str | None) -> None:
        """Notes the result of a stream. digest: of the whole file; None if it was not read to its end."""
        self._open.discard(stream)
        if stream.fault is not None:
            self._faults.append(stream.fault)
        elif digest is not None:
            self._digests.setdefault(name, set()).add(digest)

    def _is_as_recorded(self, recorded: object) -> bool:
        """Returns whether all readings are of the recorded bytes; an error if the machine or the place cannot read."""
        for name in (None, *self._shard.members):
            if name not in self._digests and not self._not_opened and not self._faults:
                with closing(self.open() if name is None else self.open_member(name)):
                    pass
        for fault in self._faults:
            if not isinstance(fault, OtherBytesError):
                raise file_fault(self._shard.label, fault) if isinstance(fault, OSError) else fault
        if self._not_opened or self._faults or any(len(digests) > 1 for digests in self._digests.values()):
            return False
        one = {name: digest for name, (digest,) in self._digests.items()}
        return digest_together(one[None], ((name, one[name]) for name in self._shard.members)) == recorded


class _Noted(OutsideStream):
    """A stream that reads to its end when its reader closes it, and reports its digest."""

    def __init__(self, source: BinaryIO, take: Callable[["_Noted", str | None], None]) -> None:
        super().__init__(source)
        self._take = take

    @override
    def close(self) -> None:
        if not self.closed:
            digest = None
            with suppress(OSError, CorpusError):  # it is noted as a fault
                digest = self.drained()
            self._done(digest)

    def let_go(self) -> None:
        """Closes without reading on."""
        if not self.closed:
            self._done(None)

    def _done(self, digest: str | None) -> None:
        super().close()
        self._take(self, digest)
