"""All file formats of the store in one list."""

from resources.errors import is_of_the_machine
from resources.formats.arrays import ARRAYS
from resources.formats.file_format import PLAIN, FileFormat, Open
from resources.formats.for_trainers import TABLE, ZSTD_LINES
from resources.formats.hdf5.reader import HDF5
from resources.formats.jsonl.lines import LINES
from resources.formats.segments import ZSTD_ROWS
from resources.stored_digest import ReadFile, digest_of

FORMATS = (*LINES, ZSTD_ROWS, ARRAYS, HDF5)

FOR_TRAINERS = "exports/"
"""Folder of files in the formats of trainers; a `.npy` file there is not an array of this store."""


def format_of(path: str) -> FileFormat:
    """Returns the format of a stored file by its suffix; of files for trainers all but `.jsonl.gz` are plain bytes."""
    known = (*LINES, ZSTD_LINES, TABLE) if path.startswith(FOR_TRAINERS) else FORMATS
    for found in known:
        if path.endswith(found.suffix):
            return found
    return PLAIN


def fault_of(opening: Open, path: str, digest: str, stored: str = "") -> str | None:
    """Reads a whole file once; returns in words how it differs from its digests, or None.

    digest: of its content. stored: of its bytes (`StoredDigest`), if its record has one. A fault of the machine or of
    the store, which says nothing about the file, is raised unchanged.
    """
    try:
        return _fault(opening, path, digest, stored)
    except Exception as error:  # libraries raise almost anything over a damaged file
        if is_of_the_machine(error):
            raise
        return f"cannot be read: {type(error).__name__}: {error}"


def _fault(opening: Open, path: str, digest: str, stored: str) -> str | None:
    """Compares both digests of a file: that of its bytes first if damage might lead its reader astray."""
    known = format_of(path)
    if not stored:
        return _content_fault(known.digest(opening, path), digest)
    with opening(path) as file:
        if known.by_address:
            fault = stored_fault(digest_of(file), stored)
            file.seek(0)
            return fault or _content_fault(known.digest(lambda _: file, path), digest)
        raw, watched = ReadFile.opened(file)
        found = known.digest(lambda other: watched if other == path else opening(other), path)
        return _content_fault(found, digest) or stored_fault(raw.stored_digest(), stored)


def _content_fault(found: str, digest: str) -> str | None:
    return None if found == digest else f"content digest is {found}, its record says {digest}"


def stored_fault(found: str, stored: str) -> str | None:
    """Returns in words that the bytes of a file have another digest than its record says; None if they match."""
    return None if found == stored else f"digest of its stored bytes is {found}, its record says {stored}"
