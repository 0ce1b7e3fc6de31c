"""For each dataset of texts its files and its manifest."""

from collections.abc import Iterator, Sequence
from functools import partial

from corpus_assets import dataset_names as names
from corpus_assets.export.texts.columns import columns
from corpus_assets.export.texts.datasets import Settings, TextDataset, text_datasets
from corpus_assets.export.texts.hooks import OwnTextFilesHooks, TextFilesHooks, TextHooks
from corpus_assets.export.texts.manifest import write_manifest
from corpus_assets.export.texts.refused import REASONS
from corpus_assets.export.texts.writing import write_texts
from resources.stage.declaration import Partitioning, Stage, every, same
from resources.stage.task import Task

CODE_VERSION = "1"


def _texts(task: Task, dataset: TextDataset) -> None:
    write_texts(task, dataset)


def _manifest(task: Task, dataset: TextDataset) -> None:
    write_manifest(task, dataset, task.inputs(names.texts(dataset.name)))


def text_stages(datasets: Sequence[Settings]) -> Iterator[Stage]:
    """Yields the stages of all datasets of texts."""
    for dataset in text_datasets(datasets):
        yield _files_stage(dataset)
        yield _manifest_stage(dataset)


def _files_stage(dataset: TextDataset) -> Stage:
    own, section = dataset.shard_set, dataset.section
    return Stage(
        name=names.texts(dataset.name),
        group=names.group(dataset.name),
        description=f"Rows of {section.rows} (.{section.files}) made from {dataset.rows_from}.",
        partitioning=Partitioning.SHARD if own else Partitioning.CHUNK,
        compute=partial(_texts, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(same(dataset.rows_from),),
        hooks=OwnTextFilesHooks(dataset) if own else TextFilesHooks(dataset),
        unit_in="examples" if own else "documents",
        unit_out="rows",
        reasons=REASONS if section.rows != "text" else (),
        shard_set=own,
        columns={name: type_ if isinstance(type_, str) else "json" for name, type_ in columns(section).items()},
        kinds=(section.files.partition(".")[0],),
    )


def _manifest_stage(dataset: TextDataset) -> Stage:
    return Stage(
        name=names.manifest(dataset.name),
        group=names.group(dataset.name),
        description=f"What to know of {dataset.name}: columns, totals and checksums of all files.",
        partitioning=Partitioning.NONE,
        compute=partial(_manifest, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(every(names.texts(dataset.name)),),
        hooks=TextHooks(dataset),
        kinds=("json",),
        unit_in="rows",
        unit_out="rows",
    )
