"""What a stage of your own is written with: everything can be imported from here (docs/own-stage.md).

Nothing is loaded before it is asked for, so that parts of the program that need little start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resources.errors import BadFileError, ConfigError, CorpusError, LedgerError, StorageError
    from resources.formats.attributes import AttributeRow, Span, attribute_line, attribute_rows
    from resources.formats.documents import Document
    from resources.formats.hdf5 import read_hdf5
    from resources.hashing import keyed_hash
    from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
    from resources.stage.partition import Partition
    from resources.stage.task import Task

_PLACES = {
    "resources.errors": ("BadFileError", "ConfigError", "CorpusError", "LedgerError", "StorageError"),
    "resources.formats.attributes": ("AttributeRow", "Span", "attribute_line", "attribute_rows"),
    "resources.formats.documents": ("Document",),
    "resources.formats.hdf5": ("read_hdf5",),
    "resources.hashing": ("keyed_hash",),
    "resources.stage.declaration": ("Input", "Partitioning", "Stage", "every", "own_segment", "same"),
    "resources.stage.partition": ("Partition",),
    "resources.stage.task": ("Task",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "AttributeRow",
    "BadFileError",
    "ConfigError",
    "CorpusError",
    "Document",
    "Input",
    "LedgerError",
    "Partition",
    "Partitioning",
    "Span",
    "Stage",
    "StorageError",
    "Task",
    "attribute_line",
    "attribute_rows",
    "every",
    "keyed_hash",
    "own_segment",
    "read_hdf5",
    "same",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'resources' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)
