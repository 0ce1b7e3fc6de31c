"""The asset `<dataset>_params`: what all files of a dataset have together."""

from collections import Counter

from corpus_assets.dataset_names import mixture
from corpus_assets.tokenize.counts.data_params import data_params, encode_data_params
from corpus_assets.tokenize.counts.lengths import packing_table
from corpus_assets.tokenize.counts.manifest import MANIFEST, rows_manifest
from corpus_assets.tokenize.counts.statistics import COUNTERS, H5_DATASET_STATS, Statistics, merge
from corpus_assets.tokenize.tokenizer import identity_of
from corpus_assets.tokenize.tokens import DatasetOptions
from resources.formats.examples import DROPPED
from resources.stage.task import Task


def params(task: Task, build: DatasetOptions, tokenizer: str, *, counted: str, written: str, read: str | None) -> None:
    """Writes a dataset's `data_params.json`, parameters and the summed statistics of its partitions, and its manifest.

    tokenizer: the asset that holds it. counted: asset whose partitions hold the counters; written: asset whose
    partitions are the files (the same unless the dataset is shuffled). read: asset whose partitions say what was
    dropped while the dataset's own files were read.
    """
    identity = identity_of(task.input(tokenizer), build.options.get("separator"))
    total = merge(Statistics.from_dict(made.counters(COUNTERS)) for made in task.inputs(counted))
    arrays = Counter[str]()
    for tokens_of_file in task.inputs(written):
        arrays.update(tokens_of_file.counters(H5_DATASET_STATS))
    value = data_params(
        build.mode.cerebras_name,
        build.mode.layout.features,
        build.options,
        statistics=total,
        arrays=arrays,
        tokenizer=identity,
    )
    skipped = Counter[str]()
    for examples in task.inputs(read) if read else ():
        skipped.update(examples.counters(DROPPED))
    value["post-process"]["skipped_rows"] = dict(sorted(skipped.items()))
    task.save_bytes(f"tokens/{build.name}/data_params.json", encode_data_params(value))
    manifest = rows_manifest(build.name, build.options, identity, total, task.inputs(written))
    if task.reads(mixture(build.name)):
        manifest["mixture"] = task.input(mixture(build.name)).json()
    task.save_json(f"tokens/{build.name}/{MANIFEST}", manifest, rows=1, derived=True)
    task.count(rows_out=total.n_examples, tokens=total.non_pad_tokens, documents=total.processed_files)
    task.count(discarded=dict(total.discarded_documents))
    if table := packing_table(task.inputs(counted), build.section):
        task.count(packing=table)
