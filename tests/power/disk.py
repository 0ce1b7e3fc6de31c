"""A disk that writes down what reaches it: `python disk.py MOUNT IMAGE LOG`.

Serves a folder with one file, `disk`, over FUSE; its bytes are those of IMAGE. A loop device over this file is a disk
for a real file system. LOG gets every write and every flush in the order in which they came. What is written to the
file `mark` beside it is a mark of that text in the same order.

A script of its own, since only it needs the package `mfusepy`.
"""

import errno
import os
import stat
import struct
import sys
from pathlib import Path
from typing import Any

import mfusepy  # type: ignore[import-not-found, unused-ignore]

HEAD = struct.Struct("<BQQ")
"""Of an entry: kind, offset, and the number of bytes that follow."""
WRITE, FLUSH, MARK = range(3)
NAMES = ("disk", "mark")


class Disk(mfusepy.Operations):  # type: ignore[misc]
    """The folder. Calls come one at a time, so the log has their order."""

    use_ns = True

    def __init__(self, image: str, log: str) -> None:
        self._image = os.open(image, os.O_RDWR)
        self._size = os.fstat(self._image).st_size
        self._log = Path(log).open("wb", buffering=1 << 20)  # noqa: SIM115, closed by `destroy`

    def _note(self, kind: int, offset: int = 0, data: bytes = b"") -> None:
        self._log.write(HEAD.pack(kind, offset, len(data)))
        self._log.write(data)
        if kind != WRITE:
            self._log.flush()

    def getattr(self, path: str, fh: Any = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
        if path[1:] not in NAMES:
            raise mfusepy.FuseOSError(errno.ENOENT)
        size = self._size if path == "/disk" else 0
        return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": size}

    def readdir(self, path: str, fh: Any) -> list[str]:
        return [".", "..", *NAMES]

    def open(self, path: str, flags: int) -> int:
        return 0

    def truncate(self, path: str, length: int, fh: Any = None) -> None:
        if path == "/disk":
            raise mfusepy.FuseOSError(errno.EPERM)

    def read(self, path: str, size: int, offset: int, fh: Any) -> bytes:
        return os.pread(self._image, size, offset) if path == "/disk" else b""

    def write(self, path: str, data: bytes, offset: int, fh: Any) -> int:
        if path == "/mark":
            self._note(MARK, 0, data)
        else:
            self._note(WRITE, offset, data)
            os.pwrite(self._image, data, offset)
        return len(data)

    def fsync(self, path: str, datasync: Any, fh: Any) -> None:
        if path == "/disk":
            self._note(FLUSH)

    def destroy(self, path: str) -> None:
        self._log.close()


if __name__ == "__main__":
    mount, image, log = sys.argv[1:]
    mfusepy.FUSE(Disk(image, log), mount, foreground=True, nothreads=True, allow_other=False)
