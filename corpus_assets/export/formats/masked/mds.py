"""MosaicML's MDS with a column `turns`, for llm-foundry (docs/formats/trainers.md "Masked data").

A turn is a run of ids that are not learned (`input_ids`) and the run of ids that are (`labels`) after it. A document
begins with the former and ends with the latter: what follows the last learned id is left out, and counted.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import MaskedExport, MdsMasked
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.format import LEARNED, Build, Files, Format
from corpus_assets.export.formats.mds import INDEX, VERSION, Described, StoredFile, finish, index_of
from corpus_assets.export.masked.documents import MaskedUnits, RowReader, Rows, groups, targets_of
from resources.stage.partition import Partition
from resources.stage.task import Task

GROUP_IDS = 1 << 17
MOST_DIGITS = 10
TAIL, EOS_APPENDED = "masked_tail", "documents_without_eos"
"""Reason for ids that are left out; total of documents to which the reader appends an end-of-text id, and learns it."""
TEXTS = (b'[{"input_ids": [', b", ", b'], "labels": [', b']}, {"input_ids": [', b"]}]")


def cut(documents: Documents, _: MaskedExport) -> Documents:
    """Returns documents without what follows their last learned id."""
    if not len(documents):
        return documents
    lengths = [_lengths(group) for group in documents.groups(1 << 22)]
    return replace(documents, lengths=np.concatenate(lengths))


def _lengths(documents: Documents) -> NDArray[np.int64]:
    (learned,) = targets_of(documents).blocks(np.uint8, documents.ids)
    begins = np.cumsum(documents.sizes) - documents.sizes
    places = np.where(learned, np.arange(1, len(learned) + 1), 0)
    found: NDArray[np.int64] = np.maximum.reduceat(places, begins) - begins
    return found


def write(task: Task, build: Build[MdsMasked], parts: Parts, files: Files) -> None:
    """Writes the shards of one partition into a folder of its own, with their index."""
    for given in parts:
        documents = cut(given, build.section)
        files.drop(TAIL, ids=given.ids - documents.ids)
        if len(documents) and (eos := build.tokenizer.eos_id) is not None:
            lasts = documents.data[documents.starts + documents.lengths - 1]
            files.count(**{EOS_APPENDED: int((lasts != eos).sum())})
        shards = [*_shards(task, build, MaskedUnits(documents), files)]
        task.save_bytes(build.path(f"{given.key}/{INDEX}"), index_of(shards))


def _shards(task: Task, build: Build[MdsMasked], units: MaskedUnits, files: Files) -> Iterator[Described]:
    """Writes the shards of a partition; yields the entry of each in the index."""
    first, limit = 0, build.section.size_limit
    config: Described = {
        "column_encodings": ["json"],
        "column_names": ["turns"],
        "column_sizes": [None],
        "compression": None,
        "format": "mds",
        "hashes": [],
        "size_limit": limit,
        "version": VERSION,
    }
    described = json.dumps(config, sort_keys=True).encode()
    for number, samples in enumerate(_in_shards(_samples(units, files), limit - 8 - len(described))):
        place = units.place(build.path(f"{units.documents.key}/shard.{number:05}.mds"), first, first + len(samples))
        stored, sizes = StoredFile(f"shard.{number:05}.mds", []), np.array([*map(len, samples)], np.int64)
        start = 8 + len(described) + 4 * len(samples)
        offsets = start + np.concatenate([[0], np.cumsum(sizes)])
        head = struct.pack("<I", len(samples)) + offsets.astype("<u4").tobytes() + described
        with task.binary(place.path) as file:
            for block in stored.through([head, *samples]):
                file.write(block)
        files.places.append(place)
        first += len(samples)
        yield config | {"samples": len(samples), "raw_data": stored.value(), "zip_data": None}


def _in_shards(samples: Iterator[bytes], room: int) -> Iterator[list[bytes]]:
    """Yields the samples of each shard: as many as have room there with their offsets, or one."""
    held, size = list[bytes](), 0
    for sample in samples:
        if held and size + len(sample) + 4 > room:
            yield held
            held, size = [], 0
        held.append(sample)
        size += len(sample) + 4
    if held:
        yield held


def _samples(units: MaskedUnits, files: Files) -> Iterator[bytes]:
    """Yields documents as samples: the bytes of their JSON, and before it how many these are."""
    reader: RowReader = units.reader()
    for count in groups(units.sizes, GROUP_IDS):
        rows = reader.read(count)
        files.count(**{LEARNED: int(rows.learned.sum())})
        text, ends = _json(rows)
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            yield struct.pack("<I", end - start) + text[start:end]


def _json(rows: Rows) -> tuple[bytes, list[int]]:
    """Returns documents as JSON, one after another, and where each ends."""
    from corpus_assets.export.kernels.turns import json_turns

    turns = np.count_nonzero(np.diff(rows.learned)) + len(rows.sizes)
    around = max(map(len, TEXTS)) * (turns + 2 * len(rows.sizes))
    out = np.empty(len(rows.ids) * (MOST_DIGITS + len(TEXTS[1])) + around, np.uint8)
    ends = np.empty(len(rows.sizes), np.int64)
    texts = tuple(np.frombuffer(text, np.uint8) for text in TEXTS)
    json_turns((rows.ids, rows.learned, rows.sizes), texts, out, ends)
    return out[: int(ends[-1]) if len(ends) else 0].tobytes(), ends.tolist()


def _turns(file: BinaryIO) -> Iterator[list[dict[str, list[int]]]]:
    """Yields the samples of a shard."""
    (samples,) = struct.unpack("<I", file.read(4))
    offsets = np.frombuffer(file.read(4 * (samples + 1)), "<u4").astype(np.int64)
    file.read(int(offsets[0]) - 4 * (samples + 2))
    for size in np.diff(offsets).tolist():
        yield json.loads(file.read(size)[4:])
    if file.read(1):
        raise ValueError("goes on after its last sample")


def read(file: BinaryIO, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields the ids of the samples of a shard, one by one."""
    for turns in _turns(file):
        yield np.array([id_ for turn in turns for id_ in (*turn["input_ids"], *turn["labels"])], np.int32)


def _notes(totals: Mapping[str, Any]) -> Iterator[str]:
    if appended := totals.get(EOS_APPENDED):
        yield f"{appended:,} documents do not end with the end-of-text id; llm-foundry appends it, and learns it"


def targets(made: Partition, path: str, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields which ids of a shard are learned."""
    with made.open(path) as file:
        for turns in _turns(file):
            runs = [(len(turn["input_ids"]), len(turn["labels"])) for turn in turns]
            yield np.concatenate([np.repeat([0, 1], run) for run in runs])


MDS_MASKED = Format(
    section=MdsMasked,
    words="Samples with turns for llm-foundry (.mds)",
    unit="document",
    write=write,
    read=read,
    cut=cut,
    finish=finish,
    targets=targets,
    notes=_notes,
    kernels=("corpus_assets.export.kernels.separate.separate", "corpus_assets.export.kernels.turns.json_turns"),
)
