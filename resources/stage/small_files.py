"""Contents of small files that a process has read and checked, up to a number of bytes in all.

Each partition of a stage over thousands of shards opens as many small files, and opening costs most of its time.
"""

Known = tuple[str, str, str]
"""A stored file and the digest of its content: store, path and digest.

Content with the recorded digest stays valid, so it is used again without examining the file.
"""


class SmallFiles:
    """Keeps contents up to `limit` bytes; when they exceed that, all are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._contents: dict[Known, bytes] = {}

    def get(self, known: Known) -> bytes | None:
        """Returns the content of a file with a digest; None if it is not kept."""
        return self._contents.get(known)

    def keep(self, known: Known, content: bytes) -> None:
        """Keeps the content of a file."""
        if self._bytes + len(content) > self._limit:
            self._contents.clear()
            self._bytes = 0
        self._contents[known] = content
        self._bytes += len(content)
