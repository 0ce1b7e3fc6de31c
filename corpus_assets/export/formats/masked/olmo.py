"""Token files with a mask beside each, for OLMo-core and open-instruct (docs/formats/trainers.md "Masked data")."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import OlmoMasked
from corpus_assets.export.documents import Documents, Parts, plain_ids, runs
from corpus_assets.export.format import LEARNED, Build, Files, Format
from corpus_assets.export.formats.olmo import compressed, read
from corpus_assets.export.masked.documents import targets_of
from resources.stage.partition import Partition
from resources.stage.task import Task

TOKENS, LABELS = "token_ids_part_", "labels_mask_part_"
EOS_INSIDE, WITHOUT_EOS = "documents_with_eos_inside", "documents_without_eos"
"""Totals: documents that the reader splits by end-of-text ids, and those that it joins with the next one or loses."""
ROWS_AT_ONCE = 1 << 16
_UNLESS = ", unless use_array_if_local=False"


def write(task: Task, build: Build[OlmoMasked], parts: Parts, files: Files) -> None:
    """Writes whole documents into files of up to `file_ids`, each with its mask and a table of its documents."""
    dtype = build.id_type.newbyteorder("<")
    for documents in parts:
        begin = 0
        for number, group in enumerate(documents.groups(build.section.file_ids)):
            name = f"{documents.key}-{number:04}"
            path = build.path(f"{TOKENS}{name}.npy")
            with task.binary(path) as out:
                for block in group.blocks(dtype):
                    out.write(block.data)
            with task.binary(build.path(f"{LABELS}{name}.npy")) as out:
                for block in targets_of(group).blocks(np.uint8):
                    files.count(**{LEARNED: int(block.sum())})
                    out.write(block.data)
            with task.binary(build.path(f"{TOKENS}{name}.csv.gz")) as out:
                for stored in compressed(_lines(group)):
                    out.write(stored)
            _count_ends(files, group, build.tokenizer.eos_id)
            files.add(path, group, id_=begin)
            begin += group.ids


def _lines(documents: Documents) -> Iterator[bytes]:
    """Yields where each document begins and ends in the file."""
    ends = np.cumsum(documents.sizes)
    for first, end in runs(np.ones(len(documents), np.int64), ROWS_AT_ONCE):
        starts = (ends[first:end] - documents.sizes[first:end]).tolist()
        pairs = zip(starts, ends[first:end].tolist(), strict=True)
        yield "".join(f"{start},{stop}\n" for start, stop in pairs).encode()


def _count_ends(files: Files, documents: Documents, eos: int | None) -> None:
    """Counts documents that do not end with end-of-text, and those that hold one before their end."""
    from corpus_assets.export.kernels.ends import hold_inside

    lasts = documents.starts + documents.lengths - 1
    ends = documents.data[lasts] == eos if eos is not None else np.zeros(len(documents), np.bool_)
    inside = 0 if eos is None else hold_inside(documents.data, documents.starts, documents.lengths, eos)
    files.count(**{EOS_INSIDE: int(inside), WITHOUT_EOS: len(documents) - int(ends.sum())})


def _notes(totals: Mapping[str, Any]) -> Iterator[str]:
    if inside := totals.get(EOS_INSIDE):
        yield f"{inside:,} documents hold an end-of-text id before their end; OLMo-core splits them{_UNLESS}"
    if without := totals.get(WITHOUT_EOS):
        yield f"{without:,} documents do not end with the end-of-text id; OLMo-core joins or loses them{_UNLESS}"


def targets(made: Partition, path: str, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields which ids of a file are learned."""
    with made.open(path.replace(TOKENS, LABELS)) as file:
        yield from plain_ids(file, np.dtype(np.uint8))


OLMO_MASKED = Format(
    section=OlmoMasked,
    words="Token files with masks for OLMo-core (.npy without a header)",
    unit="document",
    write=write,
    read=read,
    targets=targets,
    notes=_notes,
    kernels=("corpus_assets.export.kernels.separate.separate", "corpus_assets.export.kernels.ends.hold_inside"),
)
