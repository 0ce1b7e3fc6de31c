"""Datasets of texts of the small corpus, and their rows as plain libraries read them."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

from corpus_assets.corpus.corpus import Corpus
from tests.export.exported import exported, folder_of

Rows = list[dict[str, Any]]


def dataset(name: str, **options: Any) -> dict[str, Any]:
    """A dataset of texts."""
    return {"name": name, "format": "text", **options}


def write_own(folder: Path, name: str, rows: Iterable[Mapping[str, Any]], file: str = "one.jsonl") -> None:
    """Writes rows into a file of a dataset's own."""
    path = folder / "own" / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def own(
    folder: Path, given: Iterable[Mapping[str, Any]], /, *, keys: Mapping[str, Any] | None = None, **options: Any
) -> Corpus:
    """The small corpus with one dataset `own` of these rows, built."""
    write_own(folder, "own", given)
    files = {"location": "own/own", **(keys or {})}
    return exported(folder, dataset("own", input=files, **{"max_discarded": 1.0, **options}))


def rows_of(folder: Path, name: str) -> dict[str, Rows]:
    """The rows of every file of a dataset, by its name."""
    files = sorted(
        path for path in folder_of(folder, name).iterdir() if path.name not in ("README.md", "manifest.json")
    )
    return {path.name: list(_rows(path)) for path in files}


def all_rows(folder: Path, name: str) -> Rows:
    """The rows of all files, one file after another."""
    return [row for rows in rows_of(folder, name).values() for row in rows]


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        table: Rows = pq.read_table(path).to_pylist()
        return table
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    if path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(content) as frame:  # Ends with the first frame.
            content = frame.read()
    return [json.loads(line) for line in content.decode().split("\n")[:-1]]
