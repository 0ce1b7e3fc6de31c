"""A folder that `datasets.load_from_disk` loads, for LLaMA-Factory (docs/formats/trainers.md "Masked data")."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import ArrowMasked, ArrowRows
from corpus_assets.export.documents import Parts, runs
from corpus_assets.export.format import LEARNED, Build, Files, Format, places_of
from corpus_assets.export.formats.masked.parquet import schema_of, table_of
from corpus_assets.export.formats.parquet import GROUP_IDS, Sink
from corpus_assets.export.masked.documents import KERNELS, NOT_LEARNED, groups, in_rows, rows_of
from resources.hashing import content_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

INFO, STATE, EMPTY = "dataset_info.json", "state.json", "data-none.arrow"


def write(task: Task, build: Build[ArrowMasked], parts: Parts, files: Files) -> None:
    """Writes the rows of one partition as Arrow streams, `file_ids` to a file."""
    section, schema = build.section, _schema(build)
    for documents in parts:
        units = rows_of(documents, section, files)
        sizes, reader = units.sizes, units.reader()
        for number, (first, end) in enumerate(runs(sizes, section.file_ids)):
            path = build.path(f"data-{documents.key}-{number:05}.arrow")
            with task.binary(path) as file, pa.ipc.new_stream(Sink(file), schema) as out:
                for count in groups(sizes[first:end], GROUP_IDS):
                    rows = reader.read(count)
                    files.count(**{LEARNED: int(rows.learned.sum())})
                    out.write_table(table_of(schema, rows))
            files.places.append(units.place(path, first, end))


def _schema(build: Build[Any]) -> Any:
    return described(schema_of(build.section.columns or []))


def described(schema: Any) -> Any:
    """Returns the schema with what it is in the words of `datasets`."""
    info = json.dumps({"info": {"features": _features(schema)}}, sort_keys=True)
    return schema.with_metadata({"huggingface": info})


def _features(schema: Any) -> dict[str, Any]:
    # Versions before 4 know no `List`; later ones read `Sequence` as one.
    return {field.name: _feature(field.type) for field in schema}


def _feature(kind: Any) -> dict[str, Any]:
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "Sequence"}
    return {"dtype": str(kind), "_type": "Value"}


def read(file: BinaryIO, _: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a file, those of a batch of rows at a time."""
    yield from _column(file, "input_ids")


def _column(file: BinaryIO, name: str) -> Iterator[NDArray[Any]]:
    with pa.ipc.open_stream(file) as batches:
        for batch in batches:
            yield np.from_dlpack(batch.column(name).flatten())


def targets(made: Partition, path: str, build: Build[Any]) -> Iterator[NDArray[Any]]:
    """Yields which ids of a file are learned."""
    name = "labels" if "labels" in (build.section.columns or []) else "loss_mask"
    with made.open(path) as file:
        for values in _column(file, name):
            yield values != (NOT_LEARNED if name == "labels" else 0)


def finish(task: Task, build: Build[ArrowMasked], made: Sequence[Partition]) -> None:
    """Writes which files are the dataset and what its columns are; a dataset without rows has a file of none."""
    finish_with(task, build, made, _schema(build))


def finish_with(task: Task, build: Build[Any], made: Sequence[Partition], schema: Any) -> None:
    """Does so for rows of a schema."""
    names = [place.path.removeprefix(build.path("")) for partition in made for place in places_of(partition)]
    if not names:
        with task.binary(build.path(EMPTY)) as file, pa.ipc.new_stream(Sink(file), schema):
            names = [EMPTY]
    digests = sorted(file.digest for partition in made for file in partition.record.files)
    state: dict[str, Any] = {
        "_data_files": [{"filename": name} for name in names],
        # Caches are named by it, so equal content has an equal one.
        "_fingerprint": content_digest(*(digest.encode() for digest in digests))[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": "train",
    }
    info = {"citation": "", "description": "", "features": _features(schema), "homepage": "", "license": ""}
    task.save_bytes(build.path(INFO), json.dumps(info, indent=2).encode())
    task.save_bytes(build.path(STATE), json.dumps(state, indent=2).encode())


ARROW_MASKED = Format(
    section=ArrowMasked,
    words="Masked rows that datasets.load_from_disk loads (.arrow)",
    unit="row",
    write=write,
    read=read,
    cut=in_rows,
    finish=finish,
    targets=targets,
    kernels=KERNELS,
)
ARROW_ROWS: Format[Any] = replace(
    ARROW_MASKED, section=ArrowRows, words="Packed rows that datasets.load_from_disk loads (.arrow)"
)
