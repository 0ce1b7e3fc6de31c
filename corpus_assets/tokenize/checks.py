"""Checks that token files match their records, and `data_params.json` the files, by counting again."""

from functools import partial

import dagster as dg

from corpus_assets import dataset_names as names
from corpus_assets.checking import Built, asset_key, current_partitions, result
from corpus_assets.tokenize.file_faults import faults_of_record, sums_of

TOKEN_FILES = "token_files"


def token_files(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """Shape, ids, masks, labels, sequences, counts and digest of every HDF5 file, recomputed from its arrays."""
    (entry,) = (entry for entry in corpus.settings.values["datasets"] if entry["name"] == dataset)
    tokenizer_asset = names.tokenizer(dataset) if entry["tokenizer"] else names.SHARED_TOKENIZER

    @dg.asset_check(asset=asset_key(names.tokens(dataset)), name=TOKEN_FILES, description=token_files.__doc__)
    def check() -> dg.AssetCheckResult:
        files = current_partitions(corpus, names.tokens(dataset))
        faults: list[str] = []
        if files:
            (held,) = current_partitions(corpus, tokenizer_asset)
            look = partial(faults_of_record, storage=corpus.storage, dataset=entry, tokenizer=held.record)
            faults = [fault for found in corpus.spread(look, [tokens.record for tokens in files]) for fault in found]
        rows = sum(tokens.record.statistics["rows_out"] for tokens in files)
        return result(faults, {"files": len(files), "rows": rows})

    return check


def data_params_sums(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """`data_params.json` holds the sums of the statistics of all partitions."""
    sequences, tokens = names.sequences(dataset), names.tokens(dataset)
    counted = sequences if sequences in corpus.graph.stages else tokens

    @dg.asset_check(asset=asset_key(names.params(dataset)), name="sums_of_files", description=data_params_sums.__doc__)
    def check() -> dg.AssetCheckResult:
        files, made = current_partitions(corpus, tokens), current_partitions(corpus, counted)
        written = current_partitions(corpus, names.params(dataset))
        return result([fault for params in written for fault in sums_of(made, files, params)], {"files": len(files)})

    return check
