"""Finds faults of token files by counting again. Workers do this, so Dagster is not loaded here."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.config.datasets.modes import dataset_section
from corpus_assets.faults import UNREADABLE, unread
from corpus_assets.tokenize.counts.statistics import COUNTERS, H5_DATASET_STATS, Statistics, merge
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.rows.recount import ArrayStatistics
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.formats.hdf5.reader import read_hdf5
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage

_SHARED = {"n_examples": "num_sequences", "num_tokens": "num_tokens", "loss_valid_tokens": "loss_valid_tokens"}


def faults_of(tokens: Partition, dataset: Mapping[str, Any], tokenizer: Tokenizer) -> list[str]:
    """Returns the faults of a partition's token files, in words.

    dataset: its entry in the configuration. A partition without rows has no file; it has several if packing carries
    over.
    """
    try:
        faults = list(_faults(tokens, dataset, tokenizer))
    except UNREADABLE as error:
        faults = [unread(error)]
    return [f"{tokens.key or tokens.name}: {fault}" for fault in faults]


def _files(tokens: Partition) -> list[FileRecord]:
    return [file for file in tokens.record.files if file.path.endswith(".h5")]


def _shape_faults(tokens: Partition, channels: int, length: int) -> Iterator[str]:
    """Yields where files have other rows than their record says."""
    for file in _files(tokens):
        with tokens.open(file.path) as raw, read_hdf5(raw, file.path) as rows:
            shape = (rows.n, len(rows.features), rows.sequence_length)
            if shape != (file.rows, channels, length):
                yield f"shape {shape}, expected {(file.rows, channels, length)}"


def _content_faults(tokens: Partition, counted: ArrayStatistics) -> Iterator[str]:
    """Yields where content is not what the record says; counts it too, so that a row is decompressed once."""
    for file in _files(tokens):
        with tokens.open(file.path) as raw, read_hdf5(raw, file.path) as rows:
            if rows.digest(counted.watch) != file.digest:
                yield "content differs from what was recorded"


def _faults(tokens: Partition, dataset: Mapping[str, Any], tokenizer: Tokenizer) -> Iterator[str]:
    mode, recorded = mode_of(dataset_section(dataset)), tokens.record
    made, expected = recorded.statistics["rows_out"], sum(file.rows or 0 for file in _files(tokens))
    if made != expected:
        yield f"{made} rows were made, {expected} are recorded in files"
    if misshapen := list(_shape_faults(tokens, mode.layout.channels, dataset["sequence_length"])):
        yield from misshapen
        return
    found = ArrayStatistics(
        mode.layout,
        eos_id=tokenizer.eos_id,
        pad_id=tokenizer.pad_id,
        sizes=tokenizer.text_sizes(),
        inverted_mask=dataset.get("inverted_mask", False),
    )
    yield from _content_faults(tokens, found)
    yield from found.faults
    yield from _differences(found.h5_dataset_stats(), recorded.counters_of(H5_DATASET_STATS))
    if COUNTERS in recorded.segments:
        counters = recorded.counters_of(COUNTERS)
        arrays = found.h5_dataset_stats()
        yield from _differences({name: arrays[theirs] for name, theirs in _SHARED.items()}, counters)
        if not dataset.get("reference") and (lost := Statistics.from_dict(counters).unaccounted_tokens):
            yield f"{lost} tokens are in no row and not counted as dropped"


def _differences(found: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        if value != recorded.get(name):
            yield f"{name} is {value}, recorded {recorded.get(name)}"


def sums_of(counted: list[Partition], files: list[Partition], params: Partition) -> list[str]:
    """Returns where `data_params.json` is not the sum of the partitions' statistics.

    counted: partitions with counters; files: partitions with rows. They are the same unless rows are shuffled.
    """
    arrays = Counter[str]()
    for tokens in files:
        arrays.update(tokens.counters(H5_DATASET_STATS))
    counters = merge(Statistics.from_dict(made.counters(COUNTERS)) for made in counted).as_dict()
    written = params.json("data_params.json")
    faults = [*_differences(arrays, written["h5_dataset_stats"]), *_differences(counters, written["post-process"])]
    if files and counters["n_examples"] != arrays["num_sequences"]:
        faults.append(f"{counters['n_examples']} rows were made, {arrays['num_sequences']} are in the files")
    return [f"data_params.json: {fault}" for fault in faults]


def faults_of_record(record: Record, storage: Storage, dataset: Mapping[str, Any], tokenizer: Record) -> list[str]:
    """Like `faults_of`, in any process. tokenizer: the record of its partition."""
    loaded = load_tokenizer_of(Partition(storage, tokenizer, compared=False), dataset.get("separator"))
    return faults_of(Partition(storage, record, compared=False), dataset, loaded)
