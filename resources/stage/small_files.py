"""Contents of small files that a process has read and found sound, up to a number of bytes in all.

A stage over thousands of shards opens as many small files in each of its partitions, and opening costs most of it.
"""

Known = tuple[str, str, str]
"""A stored file and the digest of its content: store, path and digest.

Content that had the digest of a record has it for ever: to use it again, nobody has to look at the file.
"""


class SmallFiles:
    """Keeps contents until there are more than `limit` bytes of them; then it begins anew."""

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
