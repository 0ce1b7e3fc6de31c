"""Parquet with a column `input_ids`, for Hugging Face `datasets` (docs/formats/trainers.md "Parquet")."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from corpus_assets.config.datasets.window_exports import ColumnsExport, ParquetExport
from corpus_assets.export.documents import Documents, IdReader, runs
from corpus_assets.export.format import Build, Files, Format, places_of
from corpus_assets.export.token_stream import DOCUMENTS, NAMES
from corpus_assets.export.units import Units
from resources.formats.arrow import numbers, strings
from resources.formats.writers import BinaryWriter
from resources.stage.partition import Partition
from resources.stage.task import Task

CARD = "README.md"
GROUP_IDS = 1 << 21
"""Ids of a row group: 1024 windows of 2048."""
READ_ROWS = 256
IDS, SOURCE = pa.list_(pa.int32()), pa.string()
COLUMNS = {"position_ids": IDS, "source": SOURCE}
SPLITS = {"validation": "validation", "test": "test"}
"""What `datasets` calls a split, where it is not the one to train with."""


def write(task: Task, build: Build[ParquetExport], parts: Iterable[Documents], files: Files) -> None:
    """Writes the units of one partition as rows, `file_ids` to a file."""
    section, schema = build.section, schema_of(build.section)
    for documents in parts:
        units, reader = Units.of(section, documents, files), IdReader(documents, np.int32)
        for number, (first, end) in enumerate(runs(units.sizes, section.file_ids)):
            path = build.path(f"{documents.key}-{number:05}.parquet")
            with task.binary(path) as file, opened_rows(file, schema) as rows:
                for start, stop in runs(units.sizes[first:end], GROUP_IDS):
                    rows.write_table(table_of(schema, units, reader, first + start, first + stop))
            files.places.append(units.place(path, first, end))


def schema_of(section: ColumnsExport) -> Any:
    """Returns the schema of windows or documents."""
    return pa.schema({"input_ids": IDS} | {name: COLUMNS[name] for name in section.columns})


def opened_rows(file: BinaryWriter, schema: Any) -> Any:
    """Returns a writer of tables of a schema."""
    # Ids split into first, second ... bytes are compressed in half the time, and by a fifth more.
    of_ids = [f"{name}.list.element" for name in schema.names if schema.field(name).type == IDS]
    return pq.ParquetWriter(
        Sink(file),
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=["source"] if "source" in schema.names else False,
        column_encoding=dict.fromkeys(of_ids, "BYTE_STREAM_SPLIT"),
        write_page_checksum=True,
    )


class Sink:
    """A file as pyarrow writes to one."""

    closed = False

    def __init__(self, file: BinaryWriter) -> None:
        self.write = file.write

    def flush(self) -> None:
        """Does nothing: the task sees to that."""

    def close(self) -> None:
        """Does nothing: the task sees to that."""


def table_of(schema: Any, units: Units, reader: IdReader, first: int, end: int) -> Any:
    """Returns a range of the units, which is a row group, as rows."""
    ends = (units.starts[first : end + 1] - units.starts[first]).astype(np.int32)
    columns = {"input_ids": lambda: lists(ends, reader.read(int(ends[-1])))}
    columns["position_ids"] = lambda: lists(ends, units.positions(first, end))
    columns["source"] = lambda: _sources(units.documents, first, end)
    return pa.Table.from_arrays([columns[name]() for name in schema.names], schema=schema)


def lists(ends: Any, values: Any) -> Any:
    """Returns a column of lists. ends: int32 (rows + 1,), where in the values each begins, and the last one ends."""
    return pa.ListArray.from_arrays(numbers(ends), numbers(values))


def _sources(documents: Documents, first: int, end: int) -> Any:
    names = documents.stream.json(NAMES)["sources"]
    places = documents.stream.array(DOCUMENTS)["source"][documents.numbers[first:end]]
    return strings(names).take(numbers(places))


def read(file: BinaryIO, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a file, those of up to `READ_ROWS` rows at a time."""
    rows = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
    for batch in rows.iter_batches(READ_ROWS, columns=["input_ids"], use_threads=False):
        yield np.from_dlpack(batch.column(0).flatten())  # `to_numpy` loads pandas.


def finish(task: Task, build: Build[Any], made: Sequence[Partition]) -> None:
    """Writes the card of the dataset, which tells `load_dataset` its split and its files."""
    split = SPLITS.get(str(build.section.input), "train")
    places = [place for partition in made for place in places_of(partition)]
    rows, ids = sum(place.units for place in places), sum(place.ids for place in places)
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    # By name: files of chunks that the corpus no longer has stay in the folder until `corpus clean`.
    names = json.dumps([place.path.removeprefix(build.path("")) for place in places])
    lines += [f"  - split: {split}", f"    path: {names}"]
    lines += ["---", "", f"# {build.name}", ""]
    lines += [f"{rows:,} rows with {ids:,} ids. `manifest.json` says of which tokenizer.", ""]
    task.save_bytes(build.path(CARD), "\n".join(lines).encode())


PARQUET = Format(
    section=ParquetExport,
    words="Rows for Hugging Face datasets (.parquet)",
    unit="window",
    write=write,
    read=read,
    finish=finish,
)
