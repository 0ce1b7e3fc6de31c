"""The tokenizers, and for each configured dataset its token files and `data_params.json`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from corpus_assets.tokenize import dataset_files, shuffled_files, tokenizer_asset
from corpus_assets.tokenize.dataset_files import DatasetBuild
from corpus_assets.tokenize.modes.registry import mode_of
from resources.examples import DROPPED
from resources.graph import Input, Partitioning, Stage, every, same, segment
from resources.hashing import content_digest
from resources.settings import chunk_key
from resources.task import Task

CODE_VERSION = "2"
_NOT_CONTENT = {"name", "tokenizer", "chat_template", "format", "compat"}
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Dataset:
    """A configured dataset as its stages need it: plain values, so that they reach worker processes."""

    name: str
    values: Settings

    @property
    def source(self) -> str | None:
        """The dataset itself when it reads files of its own; None when it reads a split."""
        return self.name if isinstance(self.values["input"], Mapping) else None

    @property
    def rows_from(self) -> str:
        """Asset that holds its documents or examples."""
        return f"examples/{self.name}" if self.source else str(self.values["input"])

    @property
    def tokenizer(self) -> str:
        """Asset that holds its tokenizer."""
        return f"tokenizers/{self.name}" if self.values["tokenizer"] else "tokenizer"

    @property
    def shuffled(self) -> bool:
        """Whether its rows are permuted over its files."""
        return bool(self.values["shuffle"])


def _entry(settings: Settings, name: str) -> Settings:
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    return dict(dataset)


def dataset_parameters(settings: Settings, name: str) -> dict[str, Any]:
    """What the rows of a dataset depend on: its settings, the content of its template, and the files of a shuffle."""
    entry = _entry(settings, name)
    options = {key: value for key, value in entry.items() if key not in _NOT_CONTENT}
    if isinstance(entry["input"], Mapping):
        options["input"] = "files"
    if not entry["shuffle"]:
        del options["shuffle_seed"]
    else:
        options["files"] = settings["mix"]["chunks"]
    if path := entry.get("chat_template"):
        template = dataset_files.template_source(path, f"datasets.{name}.chat_template")
        options["chat_template_digest"] = content_digest(template.encode())
    return {f"datasets.{name}.{key}": value for key, value in options.items()}


def dataset_places(settings: Settings, name: str) -> dict[str, str]:
    """Which library tokenizes, and where the chat template lies."""
    entry = _entry(settings, name)
    chosen = entry["tokenizer"] or settings["tokenizer"]
    places = {dataset_files.BACKEND: chosen["backend"]}
    return places | ({dataset_files.TEMPLATE: entry["chat_template"]} if entry.get("chat_template") else {})


def _tokens(task: Task, dataset: Dataset) -> None:
    dataset_files.tokens(task, DatasetBuild.of(task, dataset.name, dataset.tokenizer), dataset.rows_from)


def _sequences(task: Task, dataset: Dataset) -> None:
    made = DatasetBuild.of(task, dataset.name, dataset.tokenizer)
    shuffled_files.sequences(task, made, dataset.rows_from, [chunk_key(n) for n in range(made.options["files"])])


def _gathered(task: Task, dataset: Dataset) -> None:
    made = DatasetBuild.of(task, dataset.name, dataset.tokenizer)
    files = [chunk_key(n) for n in range(made.options["files"])]
    shuffled_files.gathered(task, made, f"sequences/{dataset.name}", files.index(task.key), len(files))


def _params(task: Task, dataset: Dataset) -> None:
    made = DatasetBuild.of(task, dataset.name, dataset.tokenizer)
    counted = f"sequences/{dataset.name}" if dataset.shuffled else f"tokens/{dataset.name}"
    dataset_files.params(task, made, counted, f"tokens/{dataset.name}", dataset.rows_from if dataset.source else None)


def tokenizer_stage(name: str, dataset: str | None, kind: str) -> Stage:
    """A tokenizer's asset. A trained one must not change with the corpus: its input is not tracked."""
    return Stage(
        name=name,
        group="tokenize",
        description="A tokenizer: configured files, a hub's, or a BPE trained once on the train split.",
        partitioning=Partitioning.NONE,
        compute=tokenizer_asset.tokenizer,
        code_version="2",
        kind="records",
        inputs=(every("decontaminated_train", tracked=False),) if kind == "train" else (),
        extra_parameters=partial(_tokenizer_parameters, dataset=dataset),
        places=partial(_tokenizer_places, dataset=dataset),
        tools=("json",),
    )


def _tokenizer(settings: Settings, dataset: str | None) -> Settings:
    return dict(settings["tokenizer"] if dataset is None else _entry(settings, dataset)["tokenizer"])


def _tokenizer_parameters(settings: Settings, dataset: str | None) -> dict[str, Any]:
    section = "tokenizer" if dataset is None else f"datasets.{dataset}.tokenizer"
    return tokenizer_asset.tokenizer_parameters(_tokenizer(settings, dataset), section)


def _tokenizer_places(settings: Settings, dataset: str | None) -> dict[str, str]:
    return tokenizer_asset.tokenizer_places(_tokenizer(settings, dataset))


def token_stages(datasets: Sequence[Settings], tokenizer_kind: str) -> Iterator[Stage]:
    """The tokenizers, then per dataset its token files and its `data_params.json`."""
    if any(entry["tokenizer"] is None for entry in datasets):
        yield tokenizer_stage("tokenizer", None, tokenizer_kind)
    for entry in datasets:
        name = entry["name"]
        if entry["tokenizer"]:
            yield tokenizer_stage(f"tokenizers/{name}", name, entry["tokenizer"]["kind"])
        yield from _dataset_stages(Dataset(name, entry))


def _dataset_stages(dataset: Dataset) -> Iterator[Stage]:
    reads = (same(dataset.rows_from), same(dataset.tokenizer))
    partitioning = Partitioning.SHARD if dataset.source else Partitioning.CHUNK
    name = dataset.name
    if not dataset.shuffled:
        yield _stage(dataset, f"tokens/{name}", _tokens, partitioning, reads, source=dataset.source)
    else:
        yield _stage(dataset, f"sequences/{name}", _sequences, partitioning, reads, source=dataset.source)
        gathers = (segment(f"sequences/{name}"), same(dataset.tokenizer))
        yield _stage(dataset, f"tokens/{name}", _gathered, Partitioning.CHUNK, gathers)
    counted: tuple[Input, ...] = (every(f"sequences/{name}", part="counters"),) if dataset.shuffled else ()
    if dataset.source:
        counted += (every(dataset.rows_from, part=DROPPED),)
    yield Stage(
        name=f"data_params/{name}",
        group="tokenize",
        description=f"`data_params.json` of {name}: parameters and summed statistics.",
        partitioning=Partitioning.NONE,
        compute=partial(_params, dataset=dataset),
        code_version=CODE_VERSION,
        kind="records",
        inputs=(*counted, every(f"tokens/{name}"), same(dataset.tokenizer)),
        extra_parameters=partial(dataset_parameters, name=name),
        places=partial(dataset_places, name=name),
        tools=("json",),
    )


def _stage(
    dataset: Dataset,
    asset: str,
    compute: Callable[..., None],
    partitioning: Partitioning,
    inputs: tuple[Input, ...],
    *,
    source: str | None = None,
) -> Stage:
    mode = mode_of(dataset.values)
    order = {
        "sequences": "in the order of their shuffle keys",
        "tokens": "shuffled" if dataset.shuffled else "in order",
    }
    return Stage(
        name=asset,
        group="tokenize",
        description=f"{mode.words} made from {dataset.rows_from}, rows {order[asset.partition('/')[0]]}: "
        f"HDF5 (rows, {len(mode.features)}, L) int32.",
        partitioning=partitioning,
        compute=partial(compute, dataset=dataset),
        code_version=CODE_VERSION,
        kind="hdf5",
        inputs=inputs,
        extra_parameters=partial(dataset_parameters, name=dataset.name),
        places=partial(dataset_places, name=dataset.name),
        source=source,
        columns=dict.fromkeys(mode.features, "int32[L]"),
        tools=("hdf5",),
    )
