"""The lengths of an indexed dataset of Megatron, checked, and left on disk."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.megatron import HEADER, read_header
from corpus_assets.token_files.pieces import TokenFile
from resources.errors import BadFileError

_BLOCK = 1 << 20


class Sequences(NamedTuple):
    """Ids of each sequence, int32 (sequences,), as they lie in the `.idx`."""

    prefix: str
    lengths: NDArray[np.int32]

    def ids(self, first: int, last: int) -> int:
        """Returns how many ids the sequences of a range have."""
        return sum(int(np.sum(self.lengths[at : min(at + _BLOCK, last)])) for at in range(first, last, _BLOCK))

    @property
    def longest(self) -> int:
        """The ids of the longest one."""
        return int(self.lengths.max(initial=0))


def sequences(prefix: str, files: Path) -> Sequences:
    """Opens an index. prefix: what the trainer calls it. files: the path here, without `.idx`.

    `BadFileError` for a file that is no index, or that disagrees with its `.bin`.
    """
    index, data = files.with_name(f"{files.name}.idx"), files.with_name(f"{files.name}.bin")
    try:
        with index.open("rb") as file:
            found = read_header(TokenFile(file, str(index)))
        size = data.stat().st_size
    except OSError as error:
        raise BadFileError(str(error.filename), error.strerror or str(error)) from error
    # A map of no bytes cannot be made.
    lengths: Any = np.empty(0, "<i4")
    if found.sequences:
        lengths = np.memmap(index, "<i4", "r", HEADER, (found.sequences,))
        if lengths.min() < 0:
            raise BadFileError(str(index), f"sequence {int(lengths.argmin()):,} has {int(lengths.min()):,} ids")
    opened = Sequences(prefix, np.asarray(lengths))
    if (needed := opened.ids(0, found.sequences) * found.dtype.itemsize) != size:
        raise BadFileError(str(data), f"has {size:,} bytes; the sequences of {index} are {needed:,} bytes long")
    return opened
