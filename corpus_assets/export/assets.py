"""The token streams, and for each dataset in a trainer's format its files and its manifest."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from corpus_assets import dataset_names as names
from corpus_assets.config.export_options import Export
from corpus_assets.config.exports import export_section, format_name, is_export
from corpus_assets.config.weights import Weights
from corpus_assets.export import manifest, token_stream
from corpus_assets.export.datasets import CLEANING, ExportedDataset, Settings, streamed_datasets
from corpus_assets.export.documents import Parts
from corpus_assets.export.format import PLACES, TOTALS, Build, Files, ids_in_files
from corpus_assets.export.mixture import MIXTURE, Mix, mix_of, mixture, shares_of
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import BY_SOURCE, LENGTHS
from corpus_assets.export.weighted_documents import NOT_IN_MIXTURE, weighted_documents
from corpus_assets.tokenize import tokenizer
from corpus_assets.tokenize.datasets import dataset_run_options
from corpus_assets.tokenize.encode.attempts import slower_notes
from resources.config_files import read_outside
from resources.errors import ConfigError
from resources.formats.documents import DOCUMENT_COLUMNS
from resources.stage.declaration import Input, Partitioning, Stage, every, same
from resources.stage.partition import Partition
from resources.stage.settings import chunk_key
from resources.stage.task import Task

CODE_VERSION = "1"
WEIGHTS = "weights"
_MAY_BE_EMPTY, _EMPTY = "may_be_empty", "sources_without_tokens"
"""The local file with the shares of sources."""
MAX_WEIGHTS_BYTES = 1 << 20
_NOT_CONTENT = {"name", "tokenizer", "weights", *CLEANING}


def _entry(settings: Settings, name: str) -> Settings:
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    return dict(dataset)


def _stream(task: Task, dataset: ExportedDataset) -> None:
    path = f"token_streams/{dataset.stream}/{task.key}"
    token_stream.token_stream(task, path, dataset.rows_from, dataset.tokenizer, dataset.cleaner)


def _files(task: Task, dataset: ExportedDataset) -> None:
    build, known = dataset.build(task), dataset.format
    _require_possible(build.name, build.section, build.tokenizer.vocab_size)
    files = Files()
    mix = mix_of(task.input(names.mixture(dataset.name))) if dataset.values["weights"] else None
    streams = [stream for asset in dataset.streams for stream in task.inputs(asset)]
    opened = partial(dataset.documents, build=build, mix=mix)
    parts = Parts(streams, opened, as_counted=known.empty and mix is None)
    for documents in parts if not known.spread or task.key == chunk_key(0) else ():
        files.count(documents=len(documents), ids=documents.ids, separators=documents.separators)
        files.count_sources(documents)
    if mix is None and not known.empty:
        files.drop("no_ids", documents=sum(int((stream.array(LENGTHS) == 0).sum()) for stream in streams))
    known.write(task, build, parts, files)
    files.count(units=files.units)
    task.save_counters(PLACES, {"files": [msgspec.to_builtins(place) for place in files.places]})
    task.save_counters(TOTALS, {**files.totals, "dropped": files.dropped})
    task.save_counters(BY_SOURCE, {source: files.by_source[source] for source in sorted(files.by_source)})
    tokens = ids_in_files(files.totals, files.dropped)
    task.count(rows_in=files.totals.get("documents", 0), rows_out=files.units, tokens=tokens)


def _mixture(task: Task, dataset: ExportedDataset) -> None:
    values = {**dataset.values["weights"]}
    if (content := task.local_files.get(WEIGHTS)) is not None:
        values["shares"] = shares_of(content, f"datasets.{dataset.name}.weights.shares")
    weights = Weights.model_construct(None, **values)
    streams = task.inputs(names.token_stream(dataset.stream))
    where = f"datasets.{dataset.name}.weights"
    used = mixture(streams, weights, where, task.scratch, task.parameters.get(f"{where}.{_MAY_BE_EMPTY}", ()))
    task.save_json(f"mixtures/{dataset.name}/{MIXTURE}", msgspec.to_builtins(Mix(weights.seed, used)), rows=len(used))
    task.count(**{f"epochs of {source}": use.epochs for source, use in used.items()})
    if left_out := sorted({source for source, share in weights.given().items() if share} - used.keys()):
        task.count(**{_EMPTY: left_out})


def _slower_notes(partitions: Sequence[Partition], _: Settings, name: str) -> Iterator[str]:
    yield from slower_notes(partitions, name)


def _mixture_notes(partitions: Sequence[Partition], _: Settings, name: str) -> Iterator[str]:
    for partition in partitions:
        for source in partition.record.statistics.get(_EMPTY, ()):
            yield f"datasets.{name}.weights {source!r}: it has no documents, so the others share what it should have"


def _documents(task: Task, dataset: ExportedDataset) -> None:
    mix = mix_of(task.input(names.mixture(dataset.name)))
    weighted_documents(task, f"mixtures/{dataset.name}/{task.key}", task.input(dataset.rows_from), mix)


def _weights_file(settings: Settings, name: str) -> dict[str, bytes]:
    shares = _entry(settings, name)["weights"]["shares"]
    key = f"datasets.{name}.weights.shares"
    return {WEIGHTS: read_outside(key, shares, MAX_WEIGHTS_BYTES)} if isinstance(shares, str) else {}


def _weights_parameters(settings: Settings, name: str) -> dict[str, Any]:
    values, files = dict(_entry(settings, name)["weights"]), _weights_file(settings, name)
    if WEIGHTS in files:
        values["shares"] = shares_of(files[WEIGHTS], values["shares"])
    asked = values["tokens"] or values["shares"]
    sources = (source["name"] for source in settings["sources"] if source["may_be_empty"])
    if permitted := [source for source in sources if asked.get(source)]:
        values[_MAY_BE_EMPTY] = permitted
    return {f"datasets.{name}.weights.{key}": value for key, value in values.items()}


def _manifest(task: Task, dataset: ExportedDataset) -> None:
    mix = task.input(names.mixture(dataset.name)).json(MIXTURE) if dataset.values["weights"] else None
    made = task.inputs(names.tokens(dataset.name))
    manifest.write_manifest(task, dataset.build(task), dataset.format, made, mix)


def _cleaning_parameters(_: Settings, dataset: ExportedDataset) -> dict[str, Any]:
    return {f"cleaning.{key}": value for key, value in dataset.cleaning.items()}


def export_parameters(settings: Settings, name: str) -> dict[str, Any]:
    """Returns what the files of a dataset depend on: its options, without those that its token stream depends on."""
    entry = _entry(settings, name)
    section = export_section(entry)
    unset = {key for key in section.later if entry[key] is None}
    options = {key: value for key, value in entry.items() if key not in _NOT_CONTENT | unset}
    options |= section.more_parameters
    if isinstance(options["input"], Mapping):
        options["input"] = "files"
    return {f"datasets.{name}.{key}": value for key, value in options.items()}


def check_export(settings: Settings, name: str) -> None:
    """Raises `ConfigError` for what the format cannot hold, and for a separator that the tokenizer lacks."""
    entry = _entry(settings, name)
    own = f"datasets.{name}.tokenizer" if entry["tokenizer"] else "tokenizer"
    options = entry["tokenizer"] or settings["tokenizer"]
    loaded = tokenizer.check_tokenizer(options, own)
    section = export_section(entry)
    if loaded is not None:
        Build.of(name, section, loaded)
    vocabulary = loaded.vocab_size if loaded else options.get("vocabulary")
    if vocabulary is not None:
        _require_possible(name, section, vocabulary)


def _require_possible(name: str, section: Export, vocabulary: int) -> None:
    if section.most_ids is not None and vocabulary > section.most_ids:
        raise ConfigError(
            f"datasets.{name}: format {format_name(section)} holds ids up to {section.most_ids - 1:,}, and the "
            f"tokenizer has {vocabulary:,} entries; valid: a smaller vocabulary, or another format"
        )
    for reason in format_of(section).refuses(section, vocabulary):
        raise ConfigError(f"datasets.{name}: {reason}")


def export_stages(datasets: Sequence[Settings]) -> Iterator[Stage]:
    """Yields the token streams, and for each dataset in a trainer's format its files and its manifest."""
    streams: set[str] = set()
    for dataset in streamed_datasets(datasets):
        if not dataset.mixed and dataset.stream not in streams:
            streams.add(dataset.stream)
            yield _stream_stage(dataset)
        if not is_export(dataset.values):
            yield from (_mixture_stage(dataset), _documents_stage(dataset))
            continue
        if dataset.values["weights"]:
            yield _mixture_stage(dataset)
        yield _files_stage(dataset)
        yield _manifest_stage(dataset)


def _partitioning(dataset: ExportedDataset) -> Partitioning:
    return Partitioning.SHARD if dataset.shard_set else Partitioning.CHUNK


def _stream_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.token_stream(dataset.stream),
        group=names.group(dataset.name) if dataset.shard_set else "token_streams",
        description=f"Ids of whole documents of {dataset.rows_from}, uncut, and where each document comes from.",
        partitioning=_partitioning(dataset),
        compute=partial(_stream, dataset=dataset),
        code_version=CODE_VERSION,
        io="arrays",
        inputs=(same(dataset.rows_from), same(dataset.tokenizer)),
        derived_parameters=partial(_cleaning_parameters, dataset=dataset),
        run_options=partial(dataset_run_options, name=dataset.name),
        kernels=_stream_kernels,
        notes=partial(_slower_notes, name=names.token_stream(dataset.stream)),
        shard_set=dataset.shard_set,
        unit_in="examples" if dataset.shard_set else "documents",
        unit_out="documents",
        reasons=("no_place_to_cut",),
        columns={
            "ids": "uint[n]: token ids of one document, uncut",
            "source": "string: its source",
            "id": "string: its id",
            "shard": "string: the partition it was normalized in",
            "row": "int: its row there",
        },
        kinds=("numpy",),
    )


def _stream_kernels(_: Settings) -> tuple[str, ...]:
    return ("corpus_assets.tokenize.kernels.unlike.marked_texts",)


def _mixed_by(dataset: ExportedDataset) -> tuple[Input, ...]:
    return (same(names.mixture(dataset.name)),) if dataset.values["weights"] else ()


def _mixture_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.mixture(dataset.name),
        group=names.group(dataset.name),
        description="How often the documents of each source are used, so that sources have the tokens asked for.",
        partitioning=Partitioning.NONE,
        compute=partial(_mixture, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(every(names.token_stream(dataset.stream)),),
        derived_parameters=partial(_weights_parameters, name=dataset.name),
        local_files=partial(_weights_file, name=dataset.name),
        notes=partial(_mixture_notes, name=dataset.name),
        unit_in="documents",
        unit_out="sources",
        kinds=("json",),
    )


def _documents_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.documents(dataset.name),
        group=names.group(dataset.name),
        description=f"Documents of {dataset.rows_from} as often as the weights of the dataset say.",
        partitioning=Partitioning.CHUNK,
        compute=partial(_documents, dataset=dataset),
        code_version=CODE_VERSION,
        io="documents",
        inputs=(same(dataset.rows_from), same(names.mixture(dataset.name))),
        unit_in="documents",
        unit_out="documents",
        reasons=(NOT_IN_MIXTURE,),
        columns=DOCUMENT_COLUMNS,
        kinds=("jsonl", "dolma"),
    )


def _files_stage(dataset: ExportedDataset) -> Stage:
    known = dataset.format
    if dataset.together or known.spread:
        reads = tuple(every(stream, by_path=True) for stream in dict.fromkeys(dataset.streams))
        partitioning = Partitioning.CHUNK if known.spread else Partitioning.NONE
    else:
        reads, partitioning = (same(names.token_stream(dataset.stream)),), _partitioning(dataset)
    return Stage(
        name=names.tokens(dataset.name),
        group=names.group(dataset.name),
        description=f"{known.words} made from {dataset.rows_from}.",
        partitioning=partitioning,
        compute=partial(_files, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(*reads, same(dataset.tokenizer), *_mixed_by(dataset)),
        parameters=() if dataset.shard_set and not known.spread else known.parameters,
        derived_parameters=partial(export_parameters, name=dataset.name),
        check_before=partial(check_export, name=dataset.name),
        kernels=partial(_format_kernels, dataset=dataset),
        unit_in="documents",
        unit_out=_units(dataset),
        shard_set=dataset.shard_set if partitioning is Partitioning.SHARD else None,
        columns={known.unit_of(dataset.section): "ids: token ids, as the format of the trainer wants them"},
        kinds=(str(dataset.values["format"]),),
    )


def _units(dataset: ExportedDataset) -> str:
    """Returns what the rows of its files are, in the plural."""
    return f"{dataset.format.unit_of(dataset.section)}s"


def _format_kernels(_: Settings, dataset: ExportedDataset) -> tuple[str, ...]:
    return dataset.format.kernels


def _manifest_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.manifest(dataset.name),
        group=names.group(dataset.name),
        description=f"What to know of {dataset.name}: tokenizer, totals and checksums of all files; index files.",
        partitioning=Partitioning.NONE,
        compute=partial(_manifest, dataset=dataset),
        code_version=CODE_VERSION,
        io="records",
        inputs=(
            every(names.tokens(dataset.name)),
            same(dataset.tokenizer),
            *_mixed_by(dataset),
        ),
        derived_parameters=partial(export_parameters, name=dataset.name),
        kinds=("json",),
        unit_in=_units(dataset),
        unit_out=_units(dataset),
    )
