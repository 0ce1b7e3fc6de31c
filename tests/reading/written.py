"""Token streams written for readers, and what they should give."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.reading import Separators
from resources.formats.arrays import ArrayWriter
from resources.formats.token_streams import DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES, NOWHERE

Lists = Sequence[Sequence[int]]


def save(path: Path, array: NDArray[Any]) -> None:
    """An array as the store holds it."""
    with path.open("w+b") as file:
        writer = ArrayWriter(file, array.dtype, array.shape[1:])
        writer.append(array)
        writer.finish()


def write_stream(
    folder: Path, *partitions: Lists, dtype: DTypeLike = np.uint16, sources: Sequence[Sequence[int]] = ()
) -> Path:
    """A stream of these documents; document d of partition p has the id `p-dé`, every second no known row.

    sources: of each document of each partition, one of the sources a, b, c; by default all of one are of the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, documents in enumerate(partitions):
        prefix = folder / f"chunk-{number:04d}"
        save(Path(f"{prefix}{DATA}"), np.array([*chain.from_iterable(documents)], dtype))
        save(Path(f"{prefix}{LENGTHS}"), np.array([*map(len, documents)], np.int32))
        names = [f"{number}-{place}é".encode() for place in range(len(documents))]
        table = np.zeros(len(documents), DOCUMENT)
        table["id_end"] = np.cumsum([*map(len, names)])
        table["row"] = [NOWHERE if place % 2 else place + 5 for place in range(len(documents))]
        if sources:
            table["source"] = sources[number]
        save(Path(f"{prefix}{DOCUMENTS}"), table)
        save(Path(f"{prefix}{IDS}"), np.frombuffer(b"".join(names), np.uint8))
        said = {"sources": [*"abc"] if sources else [f"source {number}"]}
        Path(f"{prefix}{NAMES}").write_bytes(msgspec.json.encode(said))
    return folder


def numbered(*partitions: Sequence[int]) -> list[list[list[int]]]:
    """Documents of these lengths whose ids are 1000, 1001, ... through all partitions."""
    next_id, found = 1000, []
    for lengths in partitions:
        documents = []
        for length in lengths:
            documents.append([*range(next_id, next_id + length)])
            next_id += length
        found.append(documents)
    return found


def separated(partitions: Sequence[Lists], separators: Separators) -> list[int]:
    """All ids with separators, joined document by document."""
    before, after = ([] if id_ is None else [id_] for id_ in separators)
    return [id_ for document in chain(*partitions) if document for id_ in (*before, *document, *after)]
