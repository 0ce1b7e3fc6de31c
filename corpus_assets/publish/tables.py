"""Documents as Parquet files whose pages are cut by content, so that a store of chunks keeps equal texts once."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from resources.formats.documents import DOCUMENT_COLUMNS, Document

VERSION = "1"
"""Part of what a file is made of: raise it with what `write_documents` writes."""

_SCHEMA = pa.schema([(name, pa.string()) for name in DOCUMENT_COLUMNS])
_GROUP_BYTES = 64 << 20
_CUT_BY_CONTENT = "use_content_defined_chunking"


def write_documents(documents: Iterable[Document], file: Path, group_bytes: int = _GROUP_BYTES) -> int:
    """Writes documents in their order, and returns how many.

    Every column is a string; `metadata` is JSON text. A row group ends with the document that fills `group_bytes`, and
    no more is held in memory. Before pyarrow 21 pages are cut by size.
    """
    count = 0
    with pq.ParquetWriter(file, _SCHEMA, compression="zstd", write_page_index=True, **_by_content()) as writer:
        rows: list[Document] = []
        held = 0
        for document in documents:
            rows.append(document)
            held += len(document.text) + len(document.metadata)
            count += 1
            if held >= group_bytes:
                writer.write_table(_table(rows))
                rows, held = [], 0
        if rows:
            writer.write_table(_table(rows))
    return count


def _by_content() -> dict[str, bool]:
    return {_CUT_BY_CONTENT: True} if _CUT_BY_CONTENT in inspect.signature(pq.write_table).parameters else {}


def _table(rows: list[Document]) -> Any:
    columns = [[_value(document, name) for document in rows] for name in _SCHEMA.names]
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=_SCHEMA)


def _value(document: Document, name: str) -> str | None:
    value = getattr(document, name)
    return (bytes(value).decode() or None) if name == "metadata" else value
