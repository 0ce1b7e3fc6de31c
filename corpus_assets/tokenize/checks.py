"""Every token file is what its record says, and `data_params.json` is what the files say, counted anew."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from corpus_assets.corpus import Corpus
from corpus_assets.evaluation import UNREADABLE, current_parts, result
from corpus_assets.stage import asset_key
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.rows.hdf5 import HDF5Rows, read_hdf5
from corpus_assets.tokenize.rows.recount import count
from corpus_assets.tokenize.statistics import Statistics, merge
from corpus_assets.tokenize.tokenizer_asset import load_part
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.task import Part

TOKEN_FILES = "token_files"
_SHARED = {"n_examples": "num_sequences", "num_tokens": "num_tokens", "loss_valid_tokens": "loss_valid_tokens"}


def faults_of(part: Part, dataset: Mapping[str, Any], tokenizer: Tokenizer) -> list[str]:
    """What is wrong with one token file, in words. dataset: its entry in the configuration."""
    try:
        with part.open(".h5") as raw, read_hdf5(raw, str(part.partition)) as rows:
            faults = list(_faults(part, rows, dataset, tokenizer))
    except UNREADABLE as error:
        faults = [f"cannot be read: {error}"]
    return [f"{part.partition}: {fault}" for fault in faults]


def _faults(part: Part, rows: HDF5Rows, dataset: Mapping[str, Any], tokenizer: Tokenizer) -> Iterator[str]:
    mode, recorded = mode_of(dataset), part.record.statistics
    expected = (recorded["rows_out"], len(mode.features), dataset["sequence_length"])
    if (shape := (rows.n, len(rows.features), rows.sequence_length)) != expected:
        yield f"shape {shape}, expected {expected}"
        return
    if rows.digest() != part.file(".h5").digest:
        yield "content differs from what was recorded"
    found = count(
        rows.blocks(),
        mode.arrays,
        eos_id=tokenizer.eos_id,
        pad_id=tokenizer.pad_id,
        sizes=tokenizer.text_sizes(),
        inverted_mask=dataset.get("inverted_mask", False),
    )
    yield from found.faults
    yield from _differences(found.h5_dataset_stats(), recorded["h5_dataset_stats"])
    if counters := recorded.get("counters"):
        arrays = found.h5_dataset_stats()
        yield from _differences({name: arrays[theirs] for name, theirs in _SHARED.items()}, counters)
        if not dataset.get("reference") and (lost := Statistics.from_dict(counters).unaccounted_tokens):
            yield f"{lost} tokens are in no row and not counted as dropped"


def _differences(found: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        if value != recorded.get(name):
            yield f"{name} is {value}, recorded {recorded.get(name)}"


def sums_of(counted: list[Part], files: list[Part], params: Part) -> list[str]:
    """Where `data_params.json` is not the sum of the partitions' statistics.

    counted: partitions with counters; files: partitions with rows. They are the same unless rows are shuffled.
    """
    arrays = Counter[str]()
    for part in files:
        arrays.update(part.record.statistics["h5_dataset_stats"])
    counters = merge(Statistics.from_dict(part.record.statistics["counters"]) for part in counted).as_dict()
    written = params.json("data_params.json")
    faults = [*_differences(arrays, written["h5_dataset_stats"]), *_differences(counters, written["post-process"])]
    if files and counters["n_examples"] != arrays["num_sequences"]:
        faults.append(f"{counters['n_examples']} rows were made, {arrays['num_sequences']} are in the files")
    return [f"data_params.json: {fault}" for fault in faults]


def token_files(corpus: Corpus, dataset: str) -> dg.AssetChecksDefinition:
    """Shape, ids, masks, labels, sequences, counts and digest of every HDF5 file, recomputed from its arrays."""
    (entry,) = (entry for entry in corpus.settings.values["datasets"] if entry["name"] == dataset)
    tokenizer_asset = f"tokenizers/{dataset}" if entry["tokenizer"] else "tokenizer"

    @dg.asset_check(asset=asset_key(f"tokens/{dataset}"), name=TOKEN_FILES, description=token_files.__doc__)
    def check() -> dg.AssetCheckResult:
        parts = current_parts(corpus, f"tokens/{dataset}")
        faults: list[str] = []
        if parts:
            (held,) = current_parts(corpus, tokenizer_asset)
            tokenizer = load_part(held, entry.get("separator"))
            faults = [fault for part in parts for fault in faults_of(part, entry, tokenizer)]
        rows = sum(part.record.statistics["rows_out"] for part in parts)
        return result(faults, {"files": len(parts), "rows": rows})

    return check


def data_params_sums(corpus: Corpus, dataset: str) -> dg.AssetChecksDefinition:
    """`data_params.json` holds the sums of the statistics of all partitions."""
    counted = f"sequences/{dataset}" if f"sequences/{dataset}" in corpus.graph.stages else f"tokens/{dataset}"

    @dg.asset_check(
        asset=asset_key(f"data_params/{dataset}"), name="sums_of_files", description=data_params_sums.__doc__
    )
    def check() -> dg.AssetCheckResult:
        files, parts = current_parts(corpus, f"tokens/{dataset}"), current_parts(corpus, counted)
        written = current_parts(corpus, f"data_params/{dataset}")
        return result([fault for params in written for fault in sums_of(parts, files, params)], {"files": len(files)})

    return check
