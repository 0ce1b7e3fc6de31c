"""Files of rows in golden sets: plain, gzip or zstd. Lines end with a line feed and with nothing else."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import zstandard

_ROWS = (".json", ".jsonl")


def content(file: Path) -> bytes:
    """The bytes of a file, decompressed as its suffix says."""
    stored = file.read_bytes()
    if file.suffix == ".gz":
        return gzip.decompress(stored)
    if file.suffix in (".zst", ".zstd"):
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stored), read_across_frames=True).read()
    return stored


def plain_name(file: Path) -> str:
    """The name of a file without the suffix of its compression."""
    return file.stem if file.suffix in (".gz", ".zst", ".zstd") else file.name


def rows(file: Path) -> list[Any]:
    """The rows of JSON lines."""
    return [json.loads(line) for line in content(file).split(b"\n") if line.strip()]


def row_files(folder: Path) -> list[Path]:
    """All files of JSON lines below a folder, in the order of their paths."""
    return sorted(file for file in folder.rglob("*") if file.is_file() and plain_name(file).endswith(_ROWS))
