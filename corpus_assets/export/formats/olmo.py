"""Files of OLMo-core and dolma: ids without a header, and a table of documents (docs/formats/trainers.md "OLMo")."""

import csv
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import OlmoExport
from corpus_assets.export.documents import Documents, Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format
from corpus_assets.export.token_stream import DOCUMENTS, IDS, NAMES, NOWHERE
from resources.stage.task import Task

ROWS_AT_ONCE = 1 << 14
GZIP_LEVEL = 1


def write(task: Task, build: Build[OlmoExport], parts: Parts, files: Files) -> None:
    """Writes whole documents into files of up to `file_ids`, each with a table of where its documents lie."""
    dtype = build.id_type.newbyteorder("<")
    for documents in parts:
        begin = 0
        for number, group in enumerate(documents.groups(build.section.file_ids)):
            path = build.path(f"{documents.key}-{number:05d}")
            with task.binary(f"{path}.npy") as out:
                for block in group.blocks(dtype):
                    out.write(block.data)
            with task.binary(f"{path}.csv.gz") as out:
                for stored in compressed(_lines(group)):
                    out.write(stored)
            files.add(f"{path}.npy", group, id_=begin)
            begin += group.ids


def read(file: BinaryIO, build: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a `.npy`."""
    return plain_ids(file, build.id_type.newbyteorder("<"))


def compressed(contents: Iterable[bytes]) -> Iterator[bytes]:
    """Yields contents as one gzip stream, whose header has no name and no time."""
    compress = zlib.compressobj(GZIP_LEVEL, wbits=zlib.MAX_WBITS | 16)
    yield from map(compress.compress, contents)
    yield compress.flush()


def _lines(documents: Documents) -> Iterator[bytes]:
    """Yields lines `start,end,id,src,loc`, many at once: ids of the file, id, source and place of each document.

    In files of the dataset's own that is the file and the row in it, from 1; in a split, the source alone.
    """
    stream, key = documents.stream, documents.key
    table, characters = stream.array(DOCUMENTS), stream.array(IDS)
    sources = stream.json(NAMES)["sources"]
    ends = np.cumsum(documents.sizes)
    for first in range(0, len(documents), ROWS_AT_ONCE):
        chosen = slice(first, first + ROWS_AT_ONCE)
        numbers = documents.numbers[chosen]
        rows, names = table["row"][numbers].tolist(), table["source"][numbers].tolist()
        out = io.StringIO(newline="")
        csv.writer(out).writerows(
            zip(
                (ends[chosen] - documents.sizes[chosen]).tolist(),
                ends[chosen].tolist(),
                _identifiers(table["id_end"], characters, numbers),
                (sources[name] if row == NOWHERE else key for name, row in zip(names, rows, strict=True)),
                ("" if row == NOWHERE else row + 1 for row in rows),
                strict=True,
            )
        )
        yield out.getvalue().encode("utf-8", "surrogatepass")


def _identifiers(
    ends: NDArray[np.unsignedinteger[Any]], characters: NDArray[np.uint8], numbers: NDArray[np.int64]
) -> Iterator[str]:
    """Yields the ids of some documents."""
    starts = np.where(numbers > 0, ends[numbers - 1], 0)
    for start, end in zip(starts.tolist(), ends[numbers].tolist(), strict=True):
        yield bytes(characters.data[start:end]).decode("utf-8", "surrogatepass")


OLMO = Format(
    section=OlmoExport,
    words="Files for OLMo-core (.npy without a header, .csv.gz)",
    unit="document",
    write=write,
    read=read,
)
