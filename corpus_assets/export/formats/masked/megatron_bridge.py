"""Packed rows for Megatron-Bridge and NeMo (docs/formats/trainers.md "Masked data")."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import BridgeMasked
from corpus_assets.export.documents import Parts, runs
from corpus_assets.export.format import LEARNED, Build, Files, Format
from corpus_assets.export.formats.parquet import GROUP_IDS, IDS, READ_ROWS, lists, opened_rows, read
from corpus_assets.export.masked.documents import KERNELS, Rows, groups, in_rows, rows_of
from resources.stage.partition import Partition
from resources.stage.task import Task

GROUP_ROWS = 500
"""Rows of a row group: the reader keeps one in memory."""
SCHEMA = pa.schema({"input_ids": IDS, "loss_mask": pa.list_(pa.int8()), "seq_start_id": IDS})


def write(task: Task, build: Build[BridgeMasked], parts: Parts, files: Files) -> None:
    """Writes the rows of one partition, `file_ids` to a file."""
    for documents in parts:
        units = rows_of(documents, build.section, files)
        sizes, reader = units.sizes, units.reader()
        for number, (first, end) in enumerate(runs(sizes, build.section.file_ids)):
            path = build.path(f"{documents.key}-{number:05}.idx.parquet")
            with task.binary(path) as file, opened_rows(file, SCHEMA) as out:
                for count in groups(sizes[first:end], GROUP_IDS, GROUP_ROWS):
                    rows = reader.read(count)
                    files.count(**{LEARNED: int(rows.learned.sum())})
                    out.write_table(_table(rows, build.section.sequence_length))
            files.places.append(units.place(path, first, end))


def _table(rows: Rows, length: int) -> Any:
    """Returns rows as a table; ValueError for a row with more positions than the reader takes."""
    positions = np.diff(rows.ends) - rows.counts
    if positions.max(initial=0) > length:
        raise ValueError(f"a row has {positions.max()} positions; valid: at most {length}")
    starts = lists(rows.document_ends, rows.starts)
    columns = [lists(rows.ends, rows.ids), lists(rows.ends, rows.next_learned), starts]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def targets(made: Partition, path: str, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields which ids of a file are learned: the mask says it one id earlier."""
    with made.open(path) as file:
        rows = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        last: NDArray[Any] = np.zeros(1, np.int8)
        for batch in rows.iter_batches(READ_ROWS, columns=["loss_mask"], use_threads=False):
            mask = np.from_dlpack(batch.column(0).flatten())
            yield np.concatenate([last, mask[:-1]])
            last = mask[-1:]


BRIDGE_MASKED = Format(
    section=BridgeMasked,
    words="Packed rows for Megatron-Bridge (.idx.parquet)",
    unit="row",
    write=write,
    read=read,
    cut=in_rows,
    targets=targets,
    kernels=KERNELS,
)
