"""The common part of all seekable binary streams: their position, and seeking."""

import io

from typing_extensions import override


class Seekable(io.RawIOBase):
    """A stream with a position. Subclasses define `end` and `readinto`, which advances the position."""

    def __init__(self) -> None:
        super().__init__()
        self._position = 0

    def end(self) -> int:
        """Returns the number of bytes of the whole."""
        raise NotImplementedError

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._position

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = self.end() if whence == io.SEEK_END else self._position if whence == io.SEEK_CUR else 0
        if base + offset < 0:
            raise ValueError(f"negative position {base + offset}")
        self._position = base + offset
        return self._position
