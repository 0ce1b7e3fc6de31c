"""Parquet with masked rows, for TRL, transformers and axolotl (docs/formats/trainers.md "Masked data")."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import ParquetMasked, ParquetRows
from corpus_assets.export.documents import Parts, runs
from corpus_assets.export.format import LEARNED, Build, Files, Format
from corpus_assets.export.formats.parquet import GROUP_IDS, IDS, READ_ROWS, finish, lists, opened_rows, read
from corpus_assets.export.masked.documents import KERNELS, NOT_LEARNED, Rows, groups, in_rows, rows_of
from resources.stage.partition import Partition
from resources.stage.task import Task

FLAGS = pa.list_(pa.int8())
COLUMNS: Mapping[str, Callable[[Rows], Any]] = {
    "input_ids": lambda rows: lists(rows.ends, rows.ids),
    "labels": lambda rows: lists(rows.ends, rows.labels),
    "attention_mask": lambda rows: lists(rows.ends, rows.documents),
    "position_ids": lambda rows: lists(rows.ends, rows.positions),
    "seq_lengths": lambda rows: lists(rows.document_ends, rows.sizes.astype(np.int32)),
    "loss_mask": lambda rows: lists(rows.ends, rows.learned.astype(np.int8)),
}


def schema_of(columns: list[Any]) -> Any:
    """Returns the schema of rows with these columns."""
    return pa.schema({name: FLAGS if name == "loss_mask" else IDS for name in columns})


def table_of(schema: Any, rows: Rows) -> Any:
    """Returns rows as a table."""
    return pa.Table.from_arrays([COLUMNS[name](rows) for name in schema.names], schema=schema)


def write(task: Task, build: Build[ParquetMasked], parts: Parts, files: Files) -> None:
    """Writes the rows of one partition, `file_ids` to a file."""
    section, schema = build.section, schema_of(build.section.columns or [])
    for documents in parts:
        units = rows_of(documents, section, files)
        sizes, reader = units.sizes, units.reader()
        for number, (first, end) in enumerate(runs(sizes, section.file_ids)):
            path = build.path(f"{documents.key}-{number:05}.parquet")
            with task.binary(path) as file, opened_rows(file, schema) as out:
                for count in groups(sizes[first:end], GROUP_IDS):
                    rows = reader.read(count)
                    files.count(**{LEARNED: int(rows.learned.sum())})
                    out.write_table(table_of(schema, rows))
            files.places.append(units.place(path, first, end))


def targets(made: Partition, path: str, build: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields which ids of a file are learned."""
    name = "labels" if "labels" in (build.section.columns or []) else "loss_mask"
    with made.open(path) as file:
        rows = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        for batch in rows.iter_batches(READ_ROWS, columns=[name], use_threads=False):
            values = np.from_dlpack(batch.column(0).flatten())
            yield values != (NOT_LEARNED if name == "labels" else 0)


PARQUET_MASKED = Format(
    section=ParquetMasked,
    words="Masked rows for Hugging Face datasets (.parquet)",
    unit="row",
    write=write,
    read=read,
    cut=in_rows,
    finish=finish,
    targets=targets,
    kernels=KERNELS,
)
PARQUET_ROWS: Format[Any] = replace(
    PARQUET_MASKED, section=ParquetRows, words="Packed rows for Hugging Face datasets (.parquet)"
)
