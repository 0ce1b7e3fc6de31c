"""All file formats of the store in one list."""

from resources.formats.arrays import ARRAYS
from resources.formats.file_format import PLAIN, FileFormat
from resources.formats.hdf5 import HDF5
from resources.formats.lines import LINES
from resources.formats.segments import SEGMENTED_LINES

FORMATS = (LINES, SEGMENTED_LINES, ARRAYS, HDF5)


def format_of(path: str) -> FileFormat:
    """Returns the format of a stored file, by its suffix."""
    return next((known for known in FORMATS if path.endswith(known.suffix)), PLAIN)
