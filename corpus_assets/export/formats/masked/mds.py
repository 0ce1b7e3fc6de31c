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
Samples = tuple[memoryview, NDArray[np.int64]]
"""Samples one after another, each with its length before it, and the bytes of each."""
TEXTS = (b'[{"input_ids": [', b'], "labels": [', b']}, {"input_ids": [', b"]}]")


def cut(documents: Documents, _: MaskedExport) -> Documents:
    """Returns documents without what follows their last learned id."""
    from corpus_assets.export.kernels.ends import learned_lengths

    lengths = np.empty(len(documents), np.int64)
    learned_lengths(targets_of(documents).data, documents.starts, documents.lengths, lengths)
    return replace(documents, lengths=lengths)


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
    room = limit - 8 - len(described)
    for number, blocks in enumerate(_in_shards(_samples(units, files), room)):
        sizes = np.concatenate([own for _, own in blocks])
        place = units.place(build.path(f"{units.documents.key}/shard.{number:05}.mds"), first, first + len(sizes))
        stored = StoredFile(f"shard.{number:05}.mds", [])
        offsets = 8 + len(described) + 4 * len(sizes) + np.concatenate([[0], np.cumsum(sizes)])
        head = struct.pack("<I", len(sizes)) + offsets.astype("<u4").tobytes() + described
        with task.binary(place.path) as file:
            for block in stored.through([head, *(text for text, _ in blocks)]):
                file.write(block)
        files.places.append(place)
        first += len(sizes)
        yield config | {"samples": len(sizes), "raw_data": stored.value(), "zip_data": None}


def _in_shards(samples: Iterator[Samples], room: int) -> Iterator[list[Samples]]:
    """Yields the samples of each shard: as many as have room there with their offsets, or one."""
    held, used = list[Samples](), 0
    for text, sizes in samples:
        begins = np.concatenate([[0], np.cumsum(sizes)])
        first = 0
        for number, size in enumerate(sizes.tolist()):
            if used and used + size + 4 > room:
                yield [*held, (text[begins[first] : begins[number]], sizes[first:number])]
                held, used, first = [], 0, number
            used += size + 4
        held.append((text[begins[first] :], sizes[first:]))
    if used:
        yield held


def _samples(units: MaskedUnits, files: Files) -> Iterator[Samples]:
    """Yields documents as samples: the bytes of their JSON, and before it how many these are."""
    reader: RowReader = units.reader()
    for count in groups(units.sizes, GROUP_IDS):
        rows = reader.read(count)
        files.count(**{LEARNED: int(rows.learned.sum())})
        yield _json(rows)


def _json(rows: Rows) -> Samples:
    """Returns documents as samples."""
    from corpus_assets.export.kernels.turns import HEAD, SLACK, json_turns

    turns = np.count_nonzero(np.diff(rows.learned)) + len(rows.sizes)
    around = max(map(len, TEXTS)) * (turns + 2 * len(rows.sizes)) + HEAD * len(rows.sizes)
    out = np.empty(len(rows.ids) * (MOST_DIGITS + len(", ")) + around + SLACK, np.uint8)
    ends = np.empty(len(rows.sizes), np.int64)
    texts = tuple(np.frombuffer(text, np.uint8) for text in TEXTS)
    json_turns((rows.ids, rows.learned, rows.sizes), texts, out, ends)
    return out[: int(ends[-1])].data, np.diff(ends, prepend=0)


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
    kernels=(
        "corpus_assets.export.kernels.separate.separate",
        "corpus_assets.export.kernels.turns.json_turns",
        "corpus_assets.export.kernels.ends.learned_lengths",
    ),
)
