"""How long the documents of a dataset are in ids: from the tables that its stages keep, or from its token stream."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.modes import dataset_section
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.export.datasets import ExportedDataset, exported_datasets
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build
from corpus_assets.export.token_stream import LENGTHS
from corpus_assets.export.weights.stored import StoredMix, stored_mix
from corpus_assets.packing.histogram import LongDocuments
from corpus_assets.token_files.npy import integers
from corpus_assets.token_files.npy import lengths_of as lengths_of_file
from corpus_assets.token_files.pieces import TokenFile
from corpus_assets.tokenize.counts.lengths import depth_of, long_rule, saved_lengths
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.datasets import Dataset, DatasetHooks
from corpus_assets.tokenize.modes.mode import Tools
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokens import TEMPLATE, DatasetBuild, blocks_of
from resources.errors import ConfigError
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Stage
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition
from resources.system_errors import raise_machine_error

Lengths = Counter[int]
"""Number of documents by their ids."""


@dataclass(frozen=True)
class Measured:
    """A dataset whose documents have lengths.

    asset: whose partitions say them.
    length, depth, long_documents: what the dataset itself says of its rows, None where it says nothing.
    saved: returns the lengths in a partition, None if it keeps none.
    counted: returns those of the partitions that one is made of, by tokenizing them; None where that is never needed.
    """

    name: str
    asset: str
    length: int | None
    depth: int | None
    long_documents: LongDocuments
    saved: Callable[[Partition], Lengths | None]
    counted: Callable[[list[Partition]], Lengths] | None = None


@dataclass(frozen=True)
class DocumentLengths:
    """The lengths of the documents of a dataset, with separators or end-of-text ids.

    partitions: how many the dataset has.
    stale: those that say how the documents were when they were built, which a build would change.
    counted: those whose documents were tokenized now.
    absent: those of which nothing is known.
    """

    lengths: Lengths
    partitions: int
    stale: int
    counted: int
    absent: int


def measured(corpus: Corpus, name: str) -> Measured:
    """Returns a dataset by name. ConfigError for a name that is none, and for preferences, which share no rows."""
    entries = {entry["name"]: entry for entry in corpus.settings.values["datasets"]}
    if name not in entries:
        raise ConfigError(f"no dataset {name!r}{did_you_mean(name, entries)}; valid: {', '.join(entries) or 'none'}")
    if is_text(entries[name]):
        raise ConfigError(f"dataset {name} holds texts, which have no length in tokens; valid: a dataset of tokens")
    if is_export(entries[name]):
        (export,) = (one for one in exported_datasets(list(entries.values())) if one.name == name)
        if export.mixed:
            valid = ", ".join(part for one in entries[name]["input"] for part in one["datasets"])
            raise ConfigError(f"dataset {name} mixes the streams of others; valid: one of these: {valid}")
        return _measured_stream(corpus, export)
    return _measured_rows(corpus, Dataset(name, entries[name]))


def lengths_of(corpus: Corpus, dataset: Measured, say: Callable[[str], None]) -> DocumentLengths:
    """Returns the lengths of the documents of a dataset as they are built.

    Partitions that were built before lengths were kept, or whose input alone is built, are tokenized without keeping
    the result; `say` is told first. ConfigError if there is nothing to read.
    """
    planner, stage = corpus.planner(), corpus.graph[dataset.asset]
    keys, records = planner.partitions(stage), planner.records(stage.name)
    known = {key: dataset.saved(corpus.handle(records[key])) for key in keys if key in records}
    held = {key: lengths for key, lengths in known.items() if lengths is not None}
    silent = [key for key in keys if key not in held] if dataset.counted is not None else []
    given = {key: read for key in silent if (read := _read_by(corpus, planner, stage, key))}
    if not held and not given:
        raise ConfigError(f"nothing of {stage.name} is built; `corpus build --select +{stage.name}` builds it")
    total = Lengths()
    for lengths in held.values():
        total.update(lengths)
    if given and dataset.counted is not None:
        say(f"{len(given):,} of {len(keys):,} partitions of {stage.name} hold no lengths: tokenizing their documents")
        for read in given.values():
            total.update(dataset.counted(read))
    stale = _not_fresh(planner, stage) & held.keys()
    return DocumentLengths(total, len(keys), len(stale), len(given), len(keys) - len(held) - len(given))


def lengths_in(path: Path) -> Lengths:
    """Returns how many documents have each length in a `.len.npy` of anybody, read in blocks.

    `BadFileError` for a file that holds anything else than lengths; `ConfigError` if it is not there.
    """
    total = Lengths()
    try:
        with path.open("rb") as opened:
            file = TokenFile(opened, str(path))
            for block in lengths_of_file(file, *integers(file)):
                total.update(dict(zip(*map(np.ndarray.tolist, np.unique(block, return_counts=True)), strict=True)))
    except OSError as error:
        raise_machine_error(error, "reading", path)
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    return total


def _not_fresh(planner: Planner, stage: Stage) -> set[str | None]:
    decisions = planner.plan().decisions
    return {one.partition for one in decisions if one.asset == stage.name and one.status is not Status.FRESH}


def _read_by(corpus: Corpus, planner: Planner, stage: Stage, key: str | None) -> list[Partition]:
    """Returns what a partition of token rows is made of, if all of it and the tokenizer are built."""
    rows_from, tokenizer, *_ = stage.inputs
    wanted, records = planner.keys_read(rows_from, key), planner.records(rows_from.asset)
    if not planner.records(tokenizer.asset) or any(one not in records for one in wanted):
        return []
    return [corpus.handle(records[one]) for one in wanted]


def _measured_rows(corpus: Corpus, dataset: Dataset) -> Measured:
    """Returns a dataset of token rows."""
    section = dataset_section(dataset.values)
    if not mode_of(section).measures_documents:
        raise ConfigError(f"dataset {dataset.name} holds preferences, which share no rows; valid: another mode")
    return Measured(
        name=dataset.name,
        asset=names.sequences(dataset.name) if dataset.shuffled else names.tokens(dataset.name),
        length=section.sequence_length,
        depth=depth_of(section),
        long_documents=long_rule(section),
        saved=saved_lengths,
        counted=partial(_counted, cache(partial(_build, corpus, dataset))),
    )


def _measured_stream(corpus: Corpus, dataset: ExportedDataset) -> Measured:
    """Returns a dataset in the format of a trainer. Formats that cut windows say how long they are."""

    @cache
    def build() -> Build[Export]:
        return Build.of(dataset.name, dataset.section, _tokenizer(corpus, dataset.tokenizer, dataset.added_token))

    @cache
    def mix() -> StoredMix | None:
        if not dataset.values["weights"]:
            return None
        return stored_mix(_stored(corpus, names.mixture(dataset.name)))

    # Pieces for rows are what the rule for long documents makes.
    measured_units = dataset.documents if dataset.section.has_rows else dataset.units
    return Measured(
        name=dataset.name,
        asset=names.token_stream(dataset.stream),
        length=_window_of(dataset.section),
        depth=getattr(dataset.section, "packing_depth", None),
        long_documents=getattr(dataset.section, "long_documents", None) or "fold",
        saved=lambda stream: _unit_lengths(stream, dataset, measured_units(stream, build(), mix())),
    )


def _window_of(section: Export) -> int | None:
    """Returns the ids of a window, or the most of a piece; None for a dataset that holds whole documents."""
    if getattr(section, "unit", "window") == "document":
        return None
    options = ("sequence_length", "window", "context_length")
    return next((found for name in options if (found := getattr(section, name, None)) is not None), None)


def _unit_lengths(stream: Partition, dataset: ExportedDataset, units: Documents) -> Lengths:
    """Returns the lengths of the documents of a partition of a token stream as the files hold them: with separators,
    or in pieces. Where files leave out documents without ids, these have the length 0.
    """
    sizes, counts = np.unique(units.sizes, return_counts=True)
    found = Lengths(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
    if not dataset.format.empty and (empty := int((stream.array(LENGTHS) == 0).sum())):
        found[0] += empty
    return found


def _tokenizer(opened: Opened, asset: str, separator: str | None = None) -> Tokenizer:
    return load_tokenizer_of(_stored(opened, asset), separator)


def _stored(opened: Opened, asset: str) -> Partition:
    """Returns the one partition of an asset."""
    stored = opened.partition(asset, None)
    if stored is None:
        raise ConfigError(f"{asset} is not built; `corpus build --select +{asset}` builds it")
    return stored


def _build(corpus: Corpus, dataset: Dataset) -> DatasetBuild:
    section = dataset_section(dataset.values)
    template = DatasetHooks(dataset).local_files(corpus.settings.values).get(TEMPLATE)
    return DatasetBuild(
        name=dataset.name,
        options=dataset.values,
        section=section,
        mode=mode_of(section),
        tokenizer=_tokenizer(corpus, dataset.tokenizer, dataset.values.get("separator")),
        template=template.decode() if template else None,
    )


def _counted(build_of: Callable[[], DatasetBuild], read: list[Partition]) -> Lengths:
    """Returns the lengths of the documents of partitions. It makes their rows and keeps none."""
    build, statistics = build_of(), Statistics()
    for blocks in blocks_of(build, read, Tools(build.tokenizer, statistics, build.template)):
        deque(blocks, maxlen=0)
    return statistics.document_lengths
