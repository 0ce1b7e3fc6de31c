"""Room for files that are written through maps into memory: there a full disk ends the process by a signal."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from resources.system_errors import at

_NOT_AHEAD = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


def make_room(file: BinaryIO, size: int, place: str | Path = "") -> None:
    """Gives an empty file its size, and has the disk keep room for it where the file system can.

    place: of the file, for an error of the system; by default the one that its own errors name.
    """
    file.flush()
    with at("making room for", place or getattr(getattr(file, "raw", None), "shown", file.name)):
        os.ftruncate(file.fileno(), size)
        if size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno not in _NOT_AHEAD:
                    raise
