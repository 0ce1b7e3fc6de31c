"""Files that are copies of each other: those of one size whose bytes have one digest."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from resources.errors import BadFileError, require_of_the_file
from resources.raw_places import RawPlace
from resources.raw_places.files import FoundFile, printable

MOST_COMPARED: Final = 1 << 30
"""Bytes of files that are read for this; larger files than what is left of it are not compared."""
_BLOCK: Final = 1 << 20


def copies_in(place: RawPlace, files: Iterable[FoundFile]) -> list[list[str]]:
    """Returns the paths of files that hold the same bytes, a list for each content, in order."""
    by_size: dict[int, list[FoundFile]] = defaultdict(list)
    for file in files:
        if file.bytes and not file.problem:
            by_size[file.bytes].append(file)
    left, found = MOST_COMPARED, defaultdict[bytes, list[str]](list)
    for size, alike in sorted(by_size.items()):
        for file in alike if len(alike) > 1 and size * len(alike) <= left else ():
            left -= size
            if (digest := _digest(place, file)) is not None:
                found[digest].append(printable(file.path))
    return sorted(sorted(paths) for paths in found.values() if len(paths) > 1)


def _digest(place: RawPlace, file: FoundFile) -> bytes | None:
    """Returns the SHA-256 of a file; None if it cannot be read, which is told elsewhere.

    `StorageError` if the machine cannot read it now.
    """
    digest = hashlib.sha256()
    try:
        with place.open(file, file.path) as raw:
            while block := raw.read(_BLOCK):
                digest.update(block)
    except BadFileError:
        return None
    except OSError as error:
        require_of_the_file(printable(file.path), error)
        return None
    return digest.digest()
