"""Formats written without a corpus: streams of given ids, and files that are kept in memory."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.format import Build, Files
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES, id_type

EOS, BOS = 1, 2
Lists = Sequence[Sequence[int]]


class Stream:
    """A partition of a token stream. Document n has the id `<key>,<n>`."""

    def __init__(self, key: str, lists: Lists, vocabulary: int) -> None:
        self.key = key
        names = [f"{key},{number}".encode() for number in range(len(lists))]
        table = np.zeros(len(lists), DOCUMENT)
        table["id_end"] = np.cumsum([len(name) for name in names])
        table["row"] = np.arange(len(lists))
        self._arrays: dict[str, NDArray[Any]] = {
            DATA: np.array([id_ for ids in lists for id_ in ids], id_type(vocabulary)),
            LENGTHS: np.array([len(ids) for ids in lists], np.int32),
            DOCUMENTS: table,
            IDS: np.frombuffer(b"".join(names), np.uint8),
        }
        for array in self._arrays.values():
            array.flags.writeable = False

    def array(self, suffix: str) -> NDArray[Any]:
        return self._arrays[suffix]

    def json(self, suffix: str) -> Any:
        assert suffix == NAMES
        return {"sources": ["web"]}


class MemoryTask:
    """The part of a task that formats write with."""

    def __init__(self, key: str, chunks: int) -> None:
        self.key = key
        self.written: dict[str, bytes] = {}
        self._chunks = chunks

    def __getitem__(self, key: str) -> int:
        assert key == "mix.chunks"
        return self._chunks

    @contextmanager
    def binary(self, path: str) -> Iterator[io.BytesIO]:
        out = io.BytesIO()
        yield out
        assert path not in self.written
        self.written[path.rpartition("/")[2]] = out.getvalue()

    def save_bytes(self, path: str, content: bytes) -> None:
        with self.binary(path) as out:
            out.write(content)

    def scratch(self) -> io.BytesIO:
        return io.BytesIO()


def tokenizer(vocabulary: int) -> Any:
    """What formats ask of a tokenizer."""
    names: dict[str, int] = {}
    known = {"vocab_size": vocabulary, "eos_id": EOS, "bos_id": BOS, "kind": "huggingface", "digest": "d1"}
    return SimpleNamespace(**known, token_id=names.get)


def written(
    format_: str, options: Mapping[str, Any], streams: Mapping[str, Lists], vocabulary: int = 300
) -> tuple[dict[str, bytes], Files]:
    """The files of a format by name, and what is said of them, for streams of chunks by their keys."""
    section = EXPORTS[format_].model_validate({"name": "made", "format": format_, **options})
    known, build = format_of(section), Build.of("made", section, tokenizer(vocabulary))
    every: list[Any] = [Stream(key, lists, vocabulary) for key, lists in streams.items()]
    files = Files(totals={"documents": 0, "ids": 0, "separators": 0})
    found: dict[str, bytes] = {}
    for group in [every] if known.is_together(section) else [[stream] for stream in every]:
        task: Any = MemoryTask(group[0].key if group else "", len(streams))
        parts = Parts(group, partial(Documents.of, before=build.before, after=build.after, empty=known.empty))
        for documents in parts:
            files.count(documents=len(documents), ids=documents.ids, separators=documents.separators)
        known.write(task, build, parts, files)
        found |= task.written
    return found, files
