"""A folder of index files: each set of files appears as a whole, or not at all."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from resources.system_errors import make_room

DESCRIPTION = "description.txt"


class CacheFolder:
    """Files that are written beside the folder's own, and moved into place when their set is complete."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self.path = path
        self._scratch = scratch
        self._written: defaultdict[str, list[str]] = defaultdict(list)

    def array(self, base: str, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Makes a `.npy` of zeros, as `numpy.save` lays it out, and returns the array in it."""
        self._written[base].append(f"{name}.npy")
        path = self._scratch / f"{base}-{name}.npy"
        # A plain array over the map: numpy shuffles no other in place.
        array = np.asarray(np.lib.format.open_memmap(path, "w+", dtype=np.dtype(dtype), shape=shape))
        with path.open("r+b") as file:
            make_room(file, path.stat().st_size, self.path / path.name)
        return array

    def text(self, base: str, name: str, content: str) -> None:
        """Writes a text."""
        self._written[base].append(name)
        (self._scratch / f"{base}-{name}").write_text(content, encoding="utf-8")

    def finish(self, base: str) -> None:
        """Moves the files of a set into place, the description last."""
        for name in sorted(self._written.pop(base), key=DESCRIPTION.__eq__):
            (self._scratch / f"{base}-{name}").replace(self.path / f"{base}-{name}")


@contextmanager
def cache_folder(path: Path) -> Iterator[CacheFolder]:
    """Gives a folder to write into, made if it is missing; what is not finished when the block ends is removed."""
    path.mkdir(parents=True, exist_ok=True)
    scratch = Path(mkdtemp(prefix=".unfinished-", dir=path))
    try:
        yield CacheFolder(path, scratch)
    finally:
        rmtree(scratch)
