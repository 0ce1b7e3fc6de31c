"""The suffixes by which raw files are known: what their rows are, and how their bytes are packed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

PACKINGS: Final[Mapping[str, str]] = MappingProxyType(
    {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz", ".lz4": "lz4"}
)
"""Compressions by their suffix."""

PLAIN: Final = "plain"
_PACKED_OR_NOT: Final = {
    **{".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".txt": "txt"},
    **{".warc.wet": "warc.wet", ".warc": "warc"},
}
_INSIDE: Final = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow"}


class Kind(NamedTuple):
    """What a file is. rows: the format of its rows. packed: its compression, or another container; None is any."""

    rows: str
    packed: str | None


SUFFIXES: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        ".jsonl.zst.tar": Kind("jsonl.zst.tar", "tar"),
        **{suffix: Kind(rows, PLAIN) for suffix, rows in _PACKED_OR_NOT.items()},
        # A file `.json` that is not packed is most often one JSON value, which is not read.
        **{
            suffix + end: Kind(rows, packed)
            for suffix, rows in {**_PACKED_OR_NOT, ".json": "json"}.items()
            for end, packed in PACKINGS.items()
        },
        **{suffix: Kind(rows, rows) for suffix, rows in _INSIDE.items()},
    }
)
"""What a file is, by its suffix in small letters."""

_ENDS: Final = tuple(SUFFIXES)
_PARTS: Final = range(max(suffix.count(".") for suffix in SUFFIXES), 0, -1)


def data_suffix(path: str) -> str | None:
    """Returns the data suffix as written in the path, or None if the path has none of the known ones."""
    lower = path.lower()
    if not lower.endswith(_ENDS):  # Most files of a folder that is no source end here.
        return None
    parts = lower.rsplit(".", len(_PARTS))
    known = next(suffix for number in _PARTS if (suffix := f".{'.'.join(parts[-number:])}") in SUFFIXES)
    return path[len(path) - len(known) :]
