"""Token streams in memory, and formats written from them alone: for laws, and for files that libraries recorded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.format import Build, Files
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import DATA, LENGTHS
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage


class _Stream:
    """A partition of a token stream: its key, and arrays by suffix."""

    key = name = "part"

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays
        for array in arrays.values():
            array.flags.writeable = False

    def array(self, suffix: str) -> Any:
        return self._arrays[suffix]


def documents_of(
    lengths: Sequence[int],
    before: int | None = None,
    after: int | None = None,
    *,
    empty: bool = False,
    dtype: str = "uint16",
) -> Documents:
    """Documents of these lengths, whose ids count up from 100."""
    data = np.arange(100, 100 + sum(lengths)).astype(dtype)
    stream: Any = _Stream({DATA: data, LENGTHS: np.array(lengths, np.int32)})
    return Documents.of(stream, before, after, empty=empty)


def ids_of(documents: Documents) -> list[int]:
    """All ids of documents with their separators."""
    return [id_ for block in documents.blocks(np.int64) for id_ in block.tolist()]


def written(folder: Path, documents: Documents, options: Mapping[str, Any]) -> Files:
    """Writes documents in the format that the options name, into `exports/made` of a folder."""
    section = EXPORTS[options["format"]].model_validate({"name": "made", "input": "train", **options})
    tokenizer: Any = None
    task = Task(Given("made", documents.key, LocalStorage(folder, sync=False), {}))
    files, parts = Files(), Parts([documents.stream], lambda _: documents)
    format_of(section).write(task, Build("made", section, tokenizer, None, None), parts, files)
    task.publish()
    return files
