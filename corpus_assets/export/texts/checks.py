"""The files of datasets of texts hold the documents and examples that they are made of, and the manifest says so."""

from functools import partial

import dagster as dg

from corpus_assets import dataset_names as names
from corpus_assets.checking import Built, asset_key, current_partitions, result
from corpus_assets.export.file_faults import manifest_faults
from corpus_assets.export.texts.datasets import text_dataset
from corpus_assets.export.texts.file_faults import faults_of


def text_files(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """Every row is that of its document or example, in order; those that have none are counted as dropped."""
    known = text_dataset(corpus.settings.values["datasets"], dataset)

    @dg.asset_check(asset=asset_key(names.texts(dataset)), name="text_files", description=text_files.__doc__)
    def check() -> dg.AssetCheckResult:
        made = current_partitions(corpus, names.texts(dataset))
        given = {one.key or "": one.record for one in current_partitions(corpus, known.rows_from)}
        look = partial(faults_of, dataset=known, storage=corpus.storage, given=given)
        faults = [fault for found in corpus.spread(look, [one.record for one in made]) for fault in found]
        rows = sum(file.rows or 0 for one in made for file in one.record.files)
        return result(faults, {"partitions": len(made), "rows": rows})

    return check


def manifest_of_texts(corpus: Built, dataset: str) -> dg.AssetChecksDefinition:
    """The manifest names every file, with its size and the checksum of what it holds, and no others."""

    @dg.asset_check(
        asset=asset_key(names.texts(dataset)), name="manifest_of_files", description=manifest_of_texts.__doc__
    )
    def check() -> dg.AssetCheckResult:
        made = current_partitions(corpus, names.texts(dataset))
        manifests = current_partitions(corpus, names.manifest(dataset))
        faults = [fault for manifest in manifests for fault in manifest_faults(made, manifest)]
        return result(faults, {"files": sum(len(one.record.files) for one in made)})

    return check
