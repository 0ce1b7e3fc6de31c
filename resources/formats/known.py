"""All file formats of the store in one list."""

from resources.errors import is_of_the_machine
from resources.formats.arrays import ARRAYS
from resources.formats.file_format import PLAIN, FileFormat, Open
from resources.formats.hdf5 import HDF5
from resources.formats.lines import LINES
from resources.formats.segments import SEGMENTED_LINES

FORMATS = (LINES, SEGMENTED_LINES, ARRAYS, HDF5)

FOR_TRAINERS = "exports/"
"""Folder of the files whose bytes are those that trainers read; `.npy` there is not an array of this store."""


def format_of(path: str) -> FileFormat:
    """Returns the format of a stored file, by its suffix; files for trainers are theirs, but for lines."""
    known = (LINES,) if path.startswith(FOR_TRAINERS) else FORMATS
    for found in known:
        if path.endswith(found.suffix):
            return found
    return PLAIN


def fault_of(opening: Open, path: str, digest: str) -> str | None:
    """Reads a whole file; returns in words why its content is not that of a digest, or None if it is.

    A fault of the machine or of the store, which says nothing about the file, stays what it is.
    """
    try:
        found = format_of(path).digest(opening, path)
    except Exception as error:  # libraries raise almost anything over a damaged file
        if is_of_the_machine(error):
            raise
        return f"cannot be read: {type(error).__name__}: {error}"
    return None if found == digest else f"content digest is {found}, its record says {digest}"
