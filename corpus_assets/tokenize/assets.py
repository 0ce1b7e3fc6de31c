"""The tokenizers, and for each configured dataset its token files and `data_params.json`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.modes import dataset_section
from corpus_assets.config.datasets.text_exports import is_text, needs_tokenizer
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.tokenize import sequences, tokenizer, tokens
from corpus_assets.tokenize.counts.statistics import COUNTERS
from corpus_assets.tokenize.datasets import (
    Dataset,
    JudgedRowsHooks,
    MergedRowsHooks,
    ParamsHooks,
    RowsHooks,
    TokenizerHooks,
)
from corpus_assets.tokenize.given_ids import NO_IDS
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.params import params
from corpus_assets.tokenize.tokens import DatasetBuild
from resources.formats.examples import DROPPED
from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
from resources.stage.settings import chunk_key
from resources.stage.task import Task

CODE_VERSION = "2"
EMPTY_IN_PIECES = "3"
"""That of rows of texts in pieces, empty texts among them: those have no piece, so no begin-of-text id."""
ROWS = "token rows"
_COLUMNS = {
    "input_ids": "token ids of the row, then padding",
    "attention_mask": "1 where the label is in the loss; the other way round with inverted_mask",
    "labels": "the token id that comes next",
    "attention_span": "how many later positions may attend to this one",
    "position_ids": "position in its sequence, from 0",
}
Settings = Mapping[str, Any]


def _build(task: Task, dataset: Dataset, *, encodes: bool = True) -> DatasetBuild:
    return DatasetBuild.of(task, dataset.name, dataset.tokenizer, encodes=encodes)


def _tokens(task: Task, dataset: Dataset) -> None:
    make = tokens.tokens_over_files if dataset.carries_over else tokens.tokens
    make(task, _build(task, dataset), dataset.rows_from)


def _sequences(task: Task, dataset: Dataset) -> None:
    build = _build(task, dataset)
    files = [chunk_key(n) for n in range(build.options["files"])]
    name = sequences.ALL_FILES if dataset.carries_over else task.key
    sequences.sequences(task, build, dataset.rows_from, files, name)


def _gathered(task: Task, dataset: Dataset) -> None:
    build = _build(task, dataset, encodes=False)
    files = [chunk_key(n) for n in range(build.options["files"])]
    sequences.gathered(task, build, names.sequences(dataset.name), files.index(task.key), len(files))


def _params(task: Task, dataset: Dataset) -> None:
    name = dataset.name
    counted = names.sequences(name) if dataset.shuffled else names.tokens(name)
    read = dataset.rows_from if dataset.shard_set else None
    given = tokens.DatasetOptions.given(task, name)
    params(task, given, dataset.tokenizer, counted=counted, written=names.tokens(name), read=read)


def tokenizer_stage(dataset: str | None, kind: str) -> Stage:
    """Returns a tokenizer's asset: the corpus's, or a dataset's own.

    A trained tokenizer must not change with the corpus, so its input is not tracked.
    """
    return Stage(
        name=names.SHARED_TOKENIZER if dataset is None else names.tokenizer(dataset),
        group="tokenizers",
        description="A tokenizer: configured files, a hub's, or a BPE trained once on the train split.",
        unit_in="documents",
        unit_out="tokens",
        partitioning=Partitioning.NONE,
        compute=partial(tokenizer.tokenizer, folder="tokenizer" if dataset is None else f"tokenizers/{dataset}"),
        # Since 3 the ids of T5 differ. For a folder this is in the parameters; the content of a hub is known only after
        # the download.
        code_version="3" if kind == "hub" else "2",
        io="records",
        inputs=(every("decontaminated_train", tracked=False),) if kind == "train" else (),
        hooks=TokenizerHooks(dataset),
        kinds=("json",),
    )


def token_stages(datasets: Sequence[Settings], tokenizer_kind: str) -> Iterator[Stage]:
    """Yields the tokenizers of all datasets, and for those in HDF5 their token files and `data_params.json`."""
    if any(entry["tokenizer"] is None and needs_tokenizer(entry) for entry in datasets):
        yield tokenizer_stage(None, tokenizer_kind)
    for entry in datasets:
        if entry["tokenizer"] and needs_tokenizer(entry):
            yield tokenizer_stage(entry["name"], entry["tokenizer"]["kind"])
        if not is_export(entry) and not is_text(entry):
            yield from _dataset_stages(Dataset(entry["name"], entry))


def _dataset_stages(dataset: Dataset) -> Iterator[Stage]:
    name = dataset.name
    rows_from = every(dataset.rows_from) if dataset.carries_over else same(dataset.rows_from)
    reads = (rows_from, same(dataset.tokenizer))
    partitioning = Partitioning.SHARD if dataset.shard_set else Partitioning.CHUNK
    if dataset.carries_over:
        partitioning = Partitioning.NONE
    if not dataset.shuffled:
        yield _rows_stage(dataset, _tokens, partitioning, reads)
    else:
        yield _sequences_stage(dataset, partitioning, reads)
        gathers = (own_segment(names.sequences(name)), same(dataset.tokenizer))
        gathered = _rows_stage(dataset, _gathered, Partitioning.CHUNK, gathers)
        yield replace(gathered, hooks=MergedRowsHooks(dataset), unit_in=ROWS, reasons=())
    yield _params_stage(dataset)


def _rows_stage(
    dataset: Dataset, compute: Callable[..., None], partitioning: Partitioning, inputs: tuple[Input, ...]
) -> Stage:
    """Returns the token files, whose rows are in input order or shuffled."""
    order = "shuffled" if dataset.shuffled else "in order"
    return replace(
        _hdf5_stage(dataset, f"rows {order}"),
        name=names.tokens(dataset.name),
        compute=partial(compute, dataset=dataset),
        partitioning=partitioning,
        inputs=inputs,
        shard_set=dataset.shard_set if partitioning is Partitioning.SHARD else None,
    )


def _sequences_stage(dataset: Dataset, partitioning: Partitioning, inputs: tuple[Input, ...]) -> Stage:
    """Returns the rows of a shuffled dataset before they are merged."""
    return replace(
        _hdf5_stage(dataset, "rows in the order of their shuffle keys"),
        name=names.sequences(dataset.name),
        compute=partial(_sequences, dataset=dataset),
        partitioning=partitioning,
        inputs=inputs,
        shard_set=dataset.shard_set if partitioning is Partitioning.SHARD else None,
    )


def _rows_version(values: Settings) -> str:
    return EMPTY_IN_PIECES if values.get("split_text") and values.get("keep_empty") else CODE_VERSION


def _hdf5_stage(dataset: Dataset, order: str) -> Stage:
    """Returns the common values of a dataset's stages that write rows."""
    mode = mode_of(dataset_section(dataset.values))
    layout, given = mode.layout, reads_tokens(dataset.values)
    return Stage(
        name=names.tokens(dataset.name),
        group=names.group(dataset.name),
        description=f"{mode.words} made from {dataset.rows_from}, {order}: HDF5 (rows, {layout.channels}, L) int32.",
        partitioning=Partitioning.CHUNK,
        compute=partial(_tokens, dataset=dataset),
        code_version=_rows_version(dataset.values),
        io="hdf5",
        hooks=_rows_hooks(dataset),
        columns={name: _column(name) for name in layout.features},
        kinds=("hdf5",),
        unit_in="documents" if dataset.shard_set is None or given else "examples",
        unit_out=ROWS,
        reasons=(*mode.reasons, NO_IDS) if given else mode.reasons,
    )


def _rows_hooks(dataset: Dataset) -> RowsHooks:
    """Returns its hooks: rows are held back if many examples give none; Cerebras' modes continue as Cerebras does."""
    values = dataset.values
    judged = "max_discarded" in values and not values.get("reference") and not values["compat"]
    return JudgedRowsHooks(dataset) if judged else RowsHooks(dataset)


def _column(feature: str) -> str:
    """Returns the type and content of a channel; the channel of a preference begins with its side."""
    for name, holds in _COLUMNS.items():
        if feature.endswith(name):
            return f"int32[L]: {holds}"
    return "int32[L]"


def _params_stage(dataset: Dataset) -> Stage:
    name = dataset.name
    counted: tuple[Input, ...] = (every(names.sequences(name), segment=COUNTERS),) if dataset.shuffled else ()
    if dataset.shard_set:
        counted += (every(dataset.rows_from, segment=DROPPED),)
    if dataset.values.get("weights"):
        counted += (same(names.mixture(name)),)
    return Stage(
        name=names.params(name),
        group=names.group(name),
        description=f"The summary of {name}: its parameters and summed statistics (data_params.json).",
        partitioning=Partitioning.NONE,
        compute=partial(_params, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(*counted, every(names.tokens(name)), same(dataset.tokenizer)),
        hooks=ParamsHooks(dataset),
        kinds=("json",),
        unit_in=ROWS,
        unit_out=ROWS,
    )
