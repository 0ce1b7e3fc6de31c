"""The face for authors of stages, stores and engines, and of Dagster assets: all that they need is imported from here.

Nothing is loaded before it is asked for, so that parts of the program that need little start fast. A name stands here
once, in an import that only a type checker carries out: `__getattr__` reads from this file which module has the name.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resources.documents.batch_tagger import Batch as Batch
    from resources.documents.batch_tagger import BatchTagger as BatchTagger
    from resources.documents.batch_tagger import Loading as Loading
    from resources.documents.row_rule import Discard as Discard
    from resources.documents.row_rule import Drop as Drop
    from resources.documents.row_rule import Replace as Replace
    from resources.documents.row_rule import Replacement as Replacement
    from resources.documents.row_rule import Row as Row
    from resources.documents.row_rule import RowRule as RowRule
    from resources.documents.row_rule import RuleSet as RuleSet
    from resources.documents.row_rule import Verdict as Verdict
    from resources.documents.tagger import Spans as Spans
    from resources.documents.tagger import Tagger as Tagger
    from resources.documents.tagger import Text as Text
    from resources.endpoint.asking import Unanswered as Unanswered
    from resources.engine.interface import Engine as Engine
    from resources.errors import BadFileError as BadFileError
    from resources.errors import ConfigError as ConfigError
    from resources.errors import CorpusError as CorpusError
    from resources.errors import EndpointError as EndpointError
    from resources.errors import LedgerError as LedgerError
    from resources.errors import StorageError as StorageError
    from resources.formats.attributes import AttributeRow as AttributeRow
    from resources.formats.attributes import Span as Span
    from resources.formats.attributes import attribute_line as attribute_line
    from resources.formats.attributes import attribute_rows as attribute_rows
    from resources.formats.documents import Document as Document
    from resources.formats.hdf5.reader import read_hdf5 as read_hdf5
    from resources.hashing import keyed_hash as keyed_hash
    from resources.outside_files import OutsideFile as OutsideFile
    from resources.stage.declaration import Input as Input
    from resources.stage.declaration import Partitioning as Partitioning
    from resources.stage.declaration import Stage as Stage
    from resources.stage.declaration import every as every
    from resources.stage.declaration import own_segment as own_segment
    from resources.stage.declaration import same as same
    from resources.stage.handles import Arrays as Arrays
    from resources.stage.handles import LazyRows as LazyRows
    from resources.stage.handles import TokenRows as TokenRows
    from resources.stage.hooks import Hooks as Hooks
    from resources.stage.jobs.job import Job as Job
    from resources.stage.jobs.job import Outcome as Outcome
    from resources.stage.jobs.run_job import run_job as run_job
    from resources.stage.partition import Partition as Partition
    from resources.stage.task import Task as Task
    from resources.storage.interface import Entry as Entry
    from resources.storage.interface import Storage as Storage
    from resources.storage.interface import Unpublished as Unpublished


@cache
def _modules() -> dict[str, str]:
    """Returns the module of each name."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(__file__).read_bytes())
    listed = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {name.asname: str(node.module) for node in listed for name in node.names if name.asname}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_modules())
    if name not in _modules():
        raise AttributeError(f"module 'resources' has no attribute {name!r}; it has: {', '.join(sorted(_modules()))}")
    from importlib import import_module

    return getattr(import_module(_modules()[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_modules()})
