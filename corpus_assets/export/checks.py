"""Checks that files for trainers hold the ids of the token stream, and that the manifest describes them."""

from functools import partial

import dagster as dg

from corpus_assets import dataset_names as names
from corpus_assets.checking import Built, asset_key, current_partitions, result
from corpus_assets.export.amber.check import Rule
from corpus_assets.export.amber.partition_check import window_faults, window_files
from corpus_assets.export.datasets import ExportedDataset, exported_datasets
from corpus_assets.export.file_faults import Upstream, count_faults, faults_of, manifest_faults
from corpus_assets.export.format import places_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of

TOKEN_FILES, MANIFEST_OF_FILES = "token_files", "manifest_of_files"


def token_files(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """Every file holds the ids of the token stream with its separators, one by one, and no others."""
    chosen = _dataset(corpus, dataset)

    @dg.asset_check(asset=asset_key(names.tokens(dataset)), name=TOKEN_FILES, description=token_files.__doc__)
    def check() -> dg.AssetCheckResult:
        made = current_partitions(corpus, names.tokens(dataset))
        given = upstream_of(corpus, chosen)
        faults: list[str] = []
        if made and given:
            look = partial(faults_of, given=given)
            faults = [fault for found in corpus.spread(look, [one.record for one in made]) for fault in found]
        ids = sum(place.ids for one in made for place in places_of(one))
        return result(faults, {"partitions": len(made), "ids": ids})

    return check


def manifest_of_files(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """The manifest names every file, with its size and the checksum of what it holds, and no others."""

    @dg.asset_check(
        asset=asset_key(names.manifest(dataset)), name=MANIFEST_OF_FILES, description=manifest_of_files.__doc__
    )
    def check() -> dg.AssetCheckResult:
        made = current_partitions(corpus, names.tokens(dataset))
        manifests = current_partitions(corpus, names.manifest(dataset))
        faults = [fault for manifest in manifests for fault in manifest_faults(made, manifest)]
        return result(faults, {"files": sum(len(one.record.files) for one in made)})

    return check


def windows_are_valid(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """Every line has a window of the right length, ids of the vocabulary and a source; no id is unaccounted for."""
    known = _dataset(corpus, dataset)

    @dg.asset_check(
        asset=asset_key(names.tokens(dataset)), name="windows_are_valid", description=windows_are_valid.__doc__
    )
    def check() -> dg.AssetCheckResult:
        made = current_partitions(corpus, names.tokens(dataset))
        faults: list[str] = []
        if made:
            (held,) = current_partitions(corpus, known.tokenizer)
            rule = Rule(known.values["window"], load_tokenizer_of(held).vocab_size, with_source=True)
            look = partial(window_faults, storage=corpus.storage, rule=rule)
            faults = [fault for found in corpus.spread(look, [one.record for one in made]) for fault in found]
            faults += count_faults(made)
        files = [file for one in made for file in window_files(one.record)]
        return result(faults, {"files": len(files), "windows": sum(file.rows or 0 for file in files)})

    return check


def upstream_of(corpus: Built, dataset: ExportedDataset) -> Upstream | None:
    """Returns the input of a dataset's files; None if a part of it is missing."""
    tokenizers = current_partitions(corpus, dataset.tokenizer)
    streams = current_partitions(corpus, names.token_stream(dataset.stream))
    mixtures = current_partitions(corpus, names.mixture(dataset.name)) if dataset.values["weights"] else []
    if not tokenizers or bool(dataset.values["weights"]) != bool(mixtures):
        return None
    records = {stream.key or "": stream.record for stream in streams}
    mixture = mixtures[0].record if mixtures else None
    return Upstream(dataset, corpus.storage, tokenizers[0].record, records, mixture)


def _dataset(corpus: Built, name: str) -> ExportedDataset:
    (found,) = (known for known in exported_datasets(corpus.settings.values["datasets"]) if known.name == name)
    return found
