"""The token streams, and for each dataset in a trainer's format its files and its manifest."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.masked import MaskedExport, longest
from corpus_assets.config.datasets.modes import dataset_section
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.export import manifest, token_stream
from corpus_assets.export.datasets import ExportedDataset, Settings, stream_owners, streamed_datasets
from corpus_assets.export.documents import Parts
from corpus_assets.export.format import PLACES, TOTALS, Files, ids_in_files
from corpus_assets.export.given.stages import stages_of_files
from corpus_assets.export.hooks import (
    EMPTY,
    MAY_BE_EMPTY,
    MIXED_UNITS,
    ORDERED,
    PARTS_OF_UNITS,
    WEIGHTS,
    FilesHooks,
    ManifestHooks,
    MixtureHooks,
    StreamHooks,
    require_possible,
)
from corpus_assets.export.masked.figures import row_figures, shown
from corpus_assets.export.masked.long import LONG_DOCUMENT
from corpus_assets.export.masked.stream import NOTHING_LEARNED, masked_stream
from corpus_assets.export.mixture import UnitsOfStreams, mixture, mixture_of_parts, mixture_of_units
from corpus_assets.export.parts.hooks import PartsHooks, require_one_tokenizer, text_build, tokenizers
from corpus_assets.export.parts.stream import Rules, add_lost, mixed_stream
from corpus_assets.export.token_stream import BY_SOURCE, LENGTHS
from corpus_assets.export.weighted_documents import NOT_IN_MIXTURE, weighted_documents
from corpus_assets.export.weights.stored import MIXTURE, mix_of, stored_mix
from corpus_assets.export.weights.tables import weights_of
from corpus_assets.export.weights.uses import Used
from corpus_assets.tokenize.datasets import Dataset, JudgedRowsHooks, RowsHooks
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokens import DatasetBuild
from resources.documents.unit_tables import UNITS
from resources.formats.documents import DOCUMENT_COLUMNS
from resources.stage.declaration import Input, Partitioning, Stage, every, same
from resources.stage.settings import chunk_key
from resources.stage.task import Task

CODE_VERSION, OF_UNITS = "1", "2"
PARTS = "3"
"""That of datasets of parts, which count what their stream has not of texts, and a text in pieces once."""
PACKED_MANIFEST = "2"
"""That of manifests that say how full rows are."""
BETWEEN_EQUAL_IDS = "2"
"""That of documents as Dolma makes them with a `bos_token`, which may be end-of-text and a document by itself."""
NUMBERED_BY_NAME = "2"
"""That of ragged arrays with the numbers that names of raw files have."""
WITHOUT_INNER_SPACES = "2"
"""That of streams with the ids of pre-tokenize."""


def _stream(task: Task, dataset: ExportedDataset) -> None:
    path = f"token_streams/{dataset.stream}/{task.key}"
    token_stream.token_stream(
        task, path, dataset.rows_from, dataset.tokenizer, dataset.cleaner, inner_spaces=not dataset.as_pre_tokenize
    )


def _masked_stream(task: Task, dataset: ExportedDataset) -> None:
    build = DatasetBuild.of(task, dataset.name, dataset.tokenizer)
    masked_stream(task, build, f"token_streams/{dataset.stream}/{task.key}", dataset.rows_from)


def _mixed_stream(task: Task, dataset: ExportedDataset) -> None:
    build = text_build(dataset, task)
    require_one_tokenizer(
        dataset, {asset: load_tokenizer_of(task.input(asset)).digest for asset in tokenizers(dataset)}
    )
    chunks = int(task["mix.chunks"])
    rules = Rules(
        most=longest(dataset.values),
        rule=dataset.values["long_documents"],
        before=build.separators[0],
        after=build.separators[1],
        chunk=[*map(chunk_key, range(chunks))].index(task.key),
        chunks=chunks,
        dtype=build.id_type,
    )
    mix = mix_of(task.input(names.mixture(dataset.name))) if dataset.weights else None
    parts = [(part, task.inputs(part.stream)) for part in dataset.parts]
    mixed_stream(task, f"token_streams/{dataset.stream}/{task.key}", parts, rules, mix)


def _files(task: Task, dataset: ExportedDataset) -> None:
    build, known = dataset.build(task), dataset.format
    require_possible(build.name, build.section, build.tokenizer.vocab_size)
    files = Files()
    mix = stored_mix(task.input(names.mixture(dataset.name))) if dataset.values["weights"] else None
    streams = [stream for asset in dataset.streams for stream in task.inputs(asset)]
    opened = partial(dataset.documents, build=build, mix=mix)
    parts = Parts(streams, opened, as_counted=known.empty and mix is None)
    given = 0
    for documents in parts if not known.spread or task.key == chunk_key(0) else ():
        given += len(documents)
        files.count(documents=documents.texts, ids=documents.ids, separators=documents.separators)
        files.count_sources(documents)
    if mix is None and not known.empty:
        files.drop("no_ids", documents=sum(int((stream.array(LENGTHS) == 0).sum()) for stream in streams))
    known.write(task, build, parts, files)
    files.count(units=files.units)
    if dataset.parts:
        add_lost(streams, files, given)
    task.save_counters(PLACES, {"files": [msgspec.to_builtins(place) for place in files.places]})
    task.save_counters(TOTALS, {**files.totals, "dropped": files.dropped})
    task.save_counters(BY_SOURCE, {source: files.by_source[source] for source in sorted(files.by_source)})
    tokens = ids_in_files(files.totals, files.dropped)
    task.count(rows_in=given, rows_out=files.units, tokens=tokens)
    if isinstance(build.section, MaskedExport) and build.section.has_rows:
        totals = {**files.totals, "dropped": files.dropped}
        task.count(**shown(row_figures(build.section, totals)))


def _mixture(task: Task, dataset: ExportedDataset) -> None:
    where, content = f"datasets.{dataset.name}.weights", task.local_files.get(WEIGHTS)
    weights = weights_of(dataset.weights or {}, content, where, task.parameters.get(f"{where}.{PARTS_OF_UNITS}", ()))
    may_be_empty = task.parameters.get(f"{where}.{MAY_BE_EMPTY}", ())
    path = f"mixtures/{dataset.name}"
    before = mix_of(task.input(names.mixture(dataset.after))) if dataset.after else None
    if dataset.parts:
        parts = {part.name: task.inputs(part.stream) for part in dataset.parts}
        mix = mixture_of_parts(parts, weights, where, task.scratch, may_be_empty=may_be_empty)
    elif task.reads(MIXED_UNITS):
        tables = {table.key: table for table in task.inputs(MIXED_UNITS)}
        units = UnitsOfStreams(task.inputs(names.token_stream(dataset.stream)), tables, task.scratch)
        mix = mixture_of_units(units, weights, where, before)
        for key, table in units.tables(mix):
            task.save_array(f"{path}/{key}{UNITS}", table)
        mix = units.in_documents(mix)
    else:
        streams = task.inputs(names.token_stream(dataset.stream))
        mix = mixture(streams, weights, where, task.scratch, may_be_empty=may_be_empty, before=before)
    mix = msgspec.structs.replace(mix, ordered=bool(task.parameters.get(f"{where}.{ORDERED}")))
    task.save_json(f"{path}/{MIXTURE}", msgspec.to_builtins(mix), rows=len(mix.used))
    task.count(**{f"epochs of {source}": use.epochs for source, use in mix.sources.items()})
    if mix.units:
        task.count(units={unit: _in_words(use) for unit, use in mix.units.items()})
    if left_out := sorted({source for source, share in weights.given().items() if share} - mix.used.keys()):
        task.count(**{EMPTY: left_out})


def _in_words(use: Used) -> str:
    """Returns how a unit is used, for a person."""
    wanted = use.target if use.asked is None else use.asked
    said = f"{use.reached:,} of {wanted:,} tokens"
    return f"{said}, {use.documents.reached:,} of {use.documents.asked:,} documents" if use.documents else said


def _documents(task: Task, dataset: ExportedDataset) -> None:
    mix = stored_mix(task.input(names.mixture(dataset.name)))
    weighted_documents(task, f"mixtures/{dataset.name}/{task.key}", task.input(dataset.rows_from), mix)


def _manifest(task: Task, dataset: ExportedDataset) -> None:
    mix = task.input(names.mixture(dataset.name)).json(MIXTURE) if dataset.weights else None
    made = task.inputs(names.tokens(dataset.name))
    manifest.write_manifest(task, dataset.build(task), dataset.format, made, mix)


def export_stages(datasets: Sequence[Settings], *, by_unit: bool = False) -> Iterator[Stage]:
    """Yields the token streams, and for each dataset in a trainer's format its files and its manifest.

    by_unit: weights of datasets that read a split are of units of the mix, not of sources.
    """
    owners = {owner.stream: owner for owner in stream_owners(datasets)}
    for dataset in streamed_datasets(datasets):
        for stream in (*(text.stream for text in dataset.texts), dataset.stream):
            if (owner := owners.pop(stream, None)) is not None:
                yield from _made_streams(owner)
        if not is_export(dataset.values):
            yield from (
                (_mixture_stage(dataset, by_unit=by_unit), _documents_stage(dataset))
                if dataset.values["weights"]
                else ()
            )
            continue
        if dataset.weights:
            yield _mixture_stage(dataset, by_unit=by_unit)
        yield _files_stage(dataset)
        yield _manifest_stage(dataset)


def _made_streams(dataset: ExportedDataset) -> Iterator[Stage]:
    """Yields the stages that make a token stream."""
    if reads_tokens(dataset.values):
        yield from stages_of_files(dataset)
    elif dataset.parts:
        yield _mixed_stream_stage(dataset)
    else:
        yield _masked_stream_stage(dataset) if dataset.masked else _stream_stage(dataset)


def _partitioning(dataset: ExportedDataset) -> Partitioning:
    return Partitioning.SHARD if dataset.shard_set else Partitioning.CHUNK


def _stream_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.token_stream(dataset.stream),
        group=names.group(dataset.name) if dataset.shard_set else "token_streams",
        description=f"Ids of whole documents of {dataset.rows_from}, uncut, and where each document comes from.",
        partitioning=_partitioning(dataset),
        compute=partial(_stream, dataset=dataset),
        code_version=WITHOUT_INNER_SPACES if dataset.as_pre_tokenize else CODE_VERSION,
        io="arrays",
        inputs=(same(dataset.rows_from), same(dataset.tokenizer)),
        hooks=StreamHooks(dataset),
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


def _masked_stream_stage(dataset: ExportedDataset) -> Stage:
    rows, mode = Dataset(dataset.name, dataset.values), mode_of(dataset_section(dataset.values))
    made = _stream_stage(dataset)
    return replace(
        made,
        group=names.group(dataset.name),
        description=f"{mode.words} made from {dataset.rows_from}, before they share rows, and what is learned of each.",
        compute=partial(_masked_stream, dataset=dataset),
        hooks=JudgedRowsHooks(rows) if "max_discarded" in dataset.values else RowsHooks(rows),
        reasons=tuple(dict.fromkeys((*mode.reasons, NOTHING_LEARNED))),
        columns={**made.columns, "learned": "uint8[n]: 1 for an id that is learned"},
    )


def _mixed_stream_stage(dataset: ExportedDataset) -> Stage:
    made = _stream_stage(dataset)
    edges = {part.stream: every(part.stream) if part.of_files else same(part.stream) for part in dataset.parts}
    return replace(
        made,
        group=names.group(dataset.name),
        description=f"Documents of {dataset.rows_from} in keyed order, and what is learned of each.",
        compute=partial(_mixed_stream, dataset=dataset),
        code_version=PARTS,
        inputs=(*edges.values(), *map(same, tokenizers(dataset)), *_mixed_by(dataset)),
        parameters=("mix.chunks",),
        hooks=PartsHooks(dataset),
        unit_in="documents",
        reasons=(LONG_DOCUMENT, NOTHING_LEARNED),
        columns={**made.columns, "learned": "uint8[n]: 1 for an id that is learned"},
    )


def _mixed_by(dataset: ExportedDataset) -> tuple[Input, ...]:
    return (same(names.mixture(dataset.name)),) if dataset.weights else ()


def _mixture_stage(dataset: ExportedDataset, *, by_unit: bool) -> Stage:
    by_unit = by_unit and not dataset.parts and dataset.shard_set is None
    what = "unit" if by_unit else "source"
    return Stage(
        name=names.mixture(dataset.name),
        group=names.group(dataset.name),
        description=f"How often the documents of each {what} are used, so that {what}s have the requested tokens.",
        partitioning=Partitioning.NONE,
        compute=partial(_mixture, dataset=dataset),
        code_version=OF_UNITS if by_unit else CODE_VERSION,
        io="records",
        inputs=(
            *map(every, _weighed(dataset)),
            *([every(MIXED_UNITS)] if by_unit else ()),
            *((same(names.mixture(dataset.after)),) if dataset.after else ()),
        ),
        hooks=MixtureHooks(dataset, by_unit),
        unit_in="documents",
        unit_out=f"{what}s",
        kinds=("json",),
    )


def _weighed(dataset: ExportedDataset) -> Sequence[str]:
    """Returns the streams whose documents weights are about."""
    return [part.stream for part in dataset.parts] or [names.token_stream(dataset.stream)]


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


def _files_version(dataset: ExportedDataset) -> str:
    if dataset.parts:
        return PARTS
    if dataset.section.keeps_own_separators and dataset.section.first_token is not None:
        return BETWEEN_EQUAL_IDS
    return NUMBERED_BY_NAME if dataset.shard_set is not None and dataset.as_pre_tokenize else CODE_VERSION


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
        code_version=_files_version(dataset),
        io="records",
        inputs=(*reads, same(dataset.tokenizer), *(() if dataset.parts else _mixed_by(dataset))),
        parameters=() if dataset.shard_set and not known.spread else known.parameters,
        hooks=FilesHooks(dataset),
        unit_in="documents",
        unit_out=_units(dataset),
        shard_set=dataset.shard_set if partitioning is Partitioning.SHARD else None,
        columns={known.unit_of(dataset.section): "ids: token ids, as the format of the trainer wants them"},
        kinds=(str(dataset.values["format"]),),
    )


def _units(dataset: ExportedDataset) -> str:
    """Returns what the rows of its files are, in the plural."""
    return f"{dataset.format.unit_of(dataset.section)}s"


def _manifest_stage(dataset: ExportedDataset) -> Stage:
    return Stage(
        name=names.manifest(dataset.name),
        group=names.group(dataset.name),
        description=f"The manifest of {dataset.name}: tokenizer, totals and checksums of all files; index files.",
        partitioning=Partitioning.NONE,
        compute=partial(_manifest, dataset=dataset),
        code_version=PACKED_MANIFEST if dataset.section.has_rows else CODE_VERSION,
        io="records",
        inputs=(
            every(names.tokens(dataset.name)),
            same(dataset.tokenizer),
            *_mixed_by(dataset),
        ),
        hooks=ManifestHooks(dataset),
        kinds=("json",),
        unit_in=_units(dataset),
        unit_out=_units(dataset),
    )
