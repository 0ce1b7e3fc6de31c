"""The face for authors of stages, stores and engines: all that they need can be imported from here.

Nothing is loaded before it is asked for, so that parts of the program that need little start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resources.documents.row_rule import Discard, Drop, Replace, Replacement, Row, RowRule, RuleSet, Verdict
    from resources.documents.tagger import Spans, Tagger, Text
    from resources.engine.interface import Engine
    from resources.errors import BadFileError, ConfigError, CorpusError, LedgerError, StorageError
    from resources.formats.attributes import AttributeRow, Span, attribute_line, attribute_rows
    from resources.formats.documents import Document
    from resources.formats.hdf5.reader import read_hdf5
    from resources.hashing import keyed_hash
    from resources.outside_files import OutsideFile
    from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
    from resources.stage.hooks import Hooks
    from resources.stage.jobs.job import Job, Outcome
    from resources.stage.jobs.run_job import run_job
    from resources.stage.partition import Partition
    from resources.stage.task import Task
    from resources.storage.interface import Entry, Storage, Unpublished

_PLACES = {
    "resources.engine.interface": ("Engine",),
    "resources.errors": ("BadFileError", "ConfigError", "CorpusError", "LedgerError", "StorageError"),
    "resources.formats.attributes": ("AttributeRow", "Span", "attribute_line", "attribute_rows"),
    "resources.formats.documents": ("Document",),
    "resources.formats.hdf5.reader": ("read_hdf5",),
    "resources.hashing": ("keyed_hash",),
    "resources.outside_files": ("OutsideFile",),
    "resources.documents.row_rule": (
        "Discard",
        "Drop",
        "Replace",
        "Replacement",
        "Row",
        "RowRule",
        "RuleSet",
        "Verdict",
    ),
    "resources.stage.declaration": ("Input", "Partitioning", "Stage", "every", "own_segment", "same"),
    "resources.stage.hooks": ("Hooks",),
    "resources.stage.jobs.job": ("Job", "Outcome"),
    "resources.stage.jobs.run_job": ("run_job",),
    "resources.stage.partition": ("Partition",),
    "resources.stage.task": ("Task",),
    "resources.storage.interface": ("Entry", "Storage", "Unpublished"),
    "resources.documents.tagger": ("Spans", "Tagger", "Text"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "AttributeRow",
    "BadFileError",
    "ConfigError",
    "CorpusError",
    "Discard",
    "Document",
    "Drop",
    "Engine",
    "Entry",
    "Hooks",
    "Input",
    "Job",
    "LedgerError",
    "Outcome",
    "OutsideFile",
    "Partition",
    "Partitioning",
    "Replace",
    "Replacement",
    "Row",
    "RowRule",
    "RuleSet",
    "Span",
    "Spans",
    "Stage",
    "Storage",
    "StorageError",
    "Tagger",
    "Task",
    "Text",
    "Unpublished",
    "Verdict",
    "attribute_line",
    "attribute_rows",
    "every",
    "keyed_hash",
    "own_segment",
    "read_hdf5",
    "run_job",
    "same",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'resources' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)
