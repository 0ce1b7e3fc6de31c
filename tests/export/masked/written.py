"""Masked documents in memory, and formats written from them alone; their files as rows of plain lists."""

import gzip
import json
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.config.datasets.masked import masked_section
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.file_faults import _expected
from corpus_assets.export.format import Build, Files
from corpus_assets.export.masked.documents import MASK, targets_of
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import DATA, LENGTHS
from resources.ledger.records import FileRecord
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage
from tests.export.masked.rules import Document
from tests.export.streams import _Stream

OPTIONS: dict[str, Any] = {
    "name": "made",
    "mode": "chat",
    "input": {},
    "tokenizer": None,
    "unit": None,
    "reader": None,
    "columns": None,
}
GOLDEN: Sequence[Document] = [([11, 12, 13, 14], [0, 0, 1, 0]), ([21, 22, 23], [0, 0, 1])]
"""Two documents with one learned id each, one of them inside and one at the end."""


def documents_of(documents: Sequence[Document], dtype: str = "uint32") -> Documents:
    """Documents of these ids, of which some are learned."""
    ids = np.array([id_ for own, _ in documents for id_ in own], dtype)
    learned = np.array([one for _, own in documents for one in own], np.uint8)
    lengths = np.array([len(own) for own, _ in documents], np.int32)
    stream: Any = _Stream({DATA: ids, MASK: learned, LENGTHS: lengths})
    return Documents.of(stream, None, None, empty=False)


class Eos(NamedTuple):
    """What formats ask of a tokenizer."""

    eos_id: int | None = None
    vocab_size: int = 2**31


class Made(NamedTuple):
    """Files of a format, what was counted of them, and its partition."""

    folder: Path
    files: Files
    build: Build[Any]
    records: Sequence[FileRecord] = ()

    def finish(self) -> None:
        """Writes what is about all files, such as an index, as the manifest of a dataset does."""
        known = format_of(self.build.section)
        assert known.finish is not None
        root = self.folder.parents[1]
        task = Task(Given("made", None, LocalStorage(root, sync=False), {}))
        known.finish(task, self.build, [_Written(root, self)])  # type: ignore[list-item]
        task.publish()

    def parquet(self) -> list[dict[str, list[int]]]:
        """The rows of all Parquet files."""
        return [row for path in sorted(self.folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]

    def arrow(self) -> list[dict[str, list[int]]]:
        """The rows of all Arrow files."""
        paths = sorted(self.folder.glob("data-*.arrow"))
        return [row for path in paths for row in pa.ipc.open_stream(path.read_bytes()).read_all().to_pylist()]

    def mds(self) -> list[list[dict[str, list[int]]]]:
        """The samples of all shards that the index names, each read at its place."""
        found = []
        for shard in json.loads((self.folder / "part" / "index.json").read_text())["shards"]:
            raw = (self.folder / "part" / shard["raw_data"]["basename"]).read_bytes()
            assert len(raw) == shard["raw_data"]["bytes"]
            (count,) = struct.unpack_from("<I", raw)
            offsets = struct.unpack_from(f"<{count + 1}I", raw, 4)
            assert (count, offsets[-1]) == (shard["samples"], len(raw))
            for start, end in pairwise(offsets):
                assert struct.unpack_from("<I", raw, start) == (end - start - 4,)
                found.append(json.loads(raw[start + 4 : end]))
        return found

    def olmo(self) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """The ids and masks of all files, and where each document begins and ends among them."""
        ids: list[int] = []
        mask: list[int] = []
        bounds: list[tuple[int, int]] = []
        for path in sorted(self.folder.glob("token_ids_part_*.npy")):
            lines = gzip.decompress(path.with_suffix(".csv.gz").read_bytes()).decode().splitlines()
            pairs = (map(int, line.split(",")) for line in lines)
            bounds += [(len(ids) + start, len(ids) + end) for start, end in pairs]
            ids += np.fromfile(path, self.build.id_type).tolist()
            labels = path.with_name(path.name.replace("token_ids", "labels_mask"))
            mask += np.fromfile(labels, np.bool_).tolist()
        return ids, mask, bounds


def write(folder: Path, documents: Sequence[Document], eos: int | None = None, **options: Any) -> Made:
    """Writes documents in the format that the options name; what the format's checks read must be the documents."""
    section = masked_section({**OPTIONS, "sequence_length": 8, **options})
    held, tokenizer = documents_of(documents), Eos(eos)
    build: Build[Any] = Build("made", section, tokenizer, None, None)  # type: ignore[arg-type]
    task = Task(Given("made", held.key, LocalStorage(folder, sync=False), {}))
    files, known = Files(), format_of(section)
    known.write(task, build, Parts([held.stream], lambda _: held), files)
    task.publish()
    _check(folder, files, build, known.cut(held, section))
    return Made(folder / "exports" / "made", files, build, task.files)


class _Written:
    """A partition of files, as a format asks for it when it writes about all of them."""

    def __init__(self, root: Path, made: Made) -> None:
        self._root, self._made, self.record = root, made, SimpleNamespace(files=made.records)

    def counters(self, _: str) -> dict[str, Any]:
        return {"files": msgspec.to_builtins(self._made.files.places)}

    def file(self, suffix: str) -> FileRecord:
        (found,) = (file for file in self._made.records if file.path.endswith(suffix))
        return found

    def json(self, suffix: str) -> Any:
        return json.loads((self._root / self.file(suffix).path).read_bytes())


class _Stored:
    """A partition, of which only files are opened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, path: str) -> BinaryIO:
        return (self._folder / path).open("rb")


def _check(folder: Path, files: Files, build: Build[Any], units: Documents) -> None:
    known = format_of(build.section)
    assert known.targets is not None
    made: Any = _Stored(folder)
    for place in files.places:
        with made.open(place.path) as file:
            assert _joined(known.read(file, build)) == _joined(_expected(place, units.blocks(np.uint32)))
        learned = _expected(place, targets_of(units).blocks(np.uint8))
        assert _joined(known.targets(made, place.path, build)) == _joined(learned)


def _joined(blocks: Any) -> list[int]:
    return [int(value) for block in blocks for value in block]
