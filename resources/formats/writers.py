"""Writers of partition files: they stream, count, and digest the uncompressed content as it goes by."""

from abc import ABC, abstractmethod
from typing import BinaryIO

import msgspec
import xxhash
from typing_extensions import override


class Written(msgspec.Struct, frozen=True):
    """The content of a finished file: digest of the uncompressed content, rows, uncompressed bytes."""

    digest: str
    rows: int
    content_bytes: int


class Writer(ABC):
    """Fills one file, and knows afterwards what it wrote."""

    _written: Written | None = None

    @property
    def written(self) -> Written:
        """The content of the file, once it is finished."""
        if self._written is None:
            raise RuntimeError("what was written is known when the file is finished: after its `with` block")
        return self._written

    def finish(self) -> Written:
        """Complete the file; nothing can be written afterwards."""
        self._written = self._complete()
        return self._written

    @abstractmethod
    def _complete(self) -> Written: ...


class BytesWriter(Writer):
    """A small file written in one piece."""

    def __init__(self, file: BinaryIO, content: bytes, rows: int) -> None:
        file.write(content)
        self._content = Written(xxhash.xxh3_128_hexdigest(content), rows, len(content))

    @override
    def _complete(self) -> Written:
        return self._content
