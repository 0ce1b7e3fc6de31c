"""A folder that `datasets.load_from_disk` loads, with windows or documents of texts."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from corpus_assets.config.datasets.window_exports import ArrowExport
from corpus_assets.export.documents import Documents, IdReader, runs
from corpus_assets.export.format import Build, Files, Format
from corpus_assets.export.formats.masked.arrow import described, finish_with, read
from corpus_assets.export.formats.parquet import GROUP_IDS, Sink, schema_of, table_of
from corpus_assets.export.units import Units
from resources.stage.partition import Partition
from resources.stage.task import Task


def write(task: Task, build: Build[ArrowExport], parts: Iterable[Documents], files: Files) -> None:
    """Writes the units of one partition as Arrow streams, `file_ids` to a file."""
    section, schema = build.section, described(schema_of(build.section))
    for documents in parts:
        units, reader = Units.of(section, documents, files), IdReader(documents, np.int32)
        for number, (first, end) in enumerate(runs(units.sizes, section.file_ids)):
            path = build.path(f"data-{documents.key}-{number:05}.arrow")
            with task.binary(path) as file, pa.ipc.new_stream(Sink(file), schema) as out:
                for start, stop in runs(units.sizes[first:end], GROUP_IDS):
                    out.write_table(table_of(schema, units, reader, first + start, first + stop))
            files.places.append(units.place(path, first, end))


def finish(task: Task, build: Build[ArrowExport], made: Sequence[Partition]) -> None:
    """Writes which files are the dataset and what its columns are."""
    finish_with(task, build, made, described(schema_of(build.section)))


ARROW = Format(
    section=ArrowExport,
    words="Rows that datasets.load_from_disk loads (.arrow)",
    unit="window",
    write=write,
    read=read,
    finish=finish,
)
