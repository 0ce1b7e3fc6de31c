"""The files that datatrove's third MinHash block leaves for the fourth."""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path


def read_clusters(folder: Path, rows: Sequence[int]) -> list[list[int]]:
    """Clusters of document numbers, the kept one first, where file after file has so many `rows`.

    `<file>.clusters` holds pairs of row and cluster, `<file>.remove` rows, both as little-endian uint32.
    """
    clusters: dict[int, list[int]] = {}
    first = 0
    for rank, count in enumerate(rows):
        removed = {row for (row,) in _records(folder / f"{rank:06d}.remove", "<I")}
        for row, cluster in _records(folder / f"{rank:06d}.clusters", "<II"):
            members = clusters.setdefault(cluster, [])
            members.insert(len(members) if row in removed else 0, first + row)
        first += count
    return list(clusters.values())


def _records(file: Path, form: str) -> Iterator[tuple[int, ...]]:
    return struct.iter_unpack(form, file.read_bytes()) if file.exists() else iter(())
