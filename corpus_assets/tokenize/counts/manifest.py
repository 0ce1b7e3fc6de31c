"""`manifest.json` of a dataset: its tokenizer, its contents, and the checksum of every file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.tokenize.counts.statistics import H5_DATASET_STATS, Statistics
from corpus_assets.tokenize.tokenizers.protocol import Identity, Tokenizer
from resources.stage.partition import Partition

MANIFEST = "manifest.json"
VERSION = 1


def told(tokenizer: Tokenizer | Identity) -> dict[str, Any]:
    """Returns the entry for a tokenizer."""
    return {
        "kind": tokenizer.kind,
        "digest": tokenizer.digest,
        "vocab_size": tokenizer.vocab_size,
        "eos_id": tokenizer.eos_id,
        "bos_id": tokenizer.bos_id,
        "pad_id": tokenizer.pad_id,
    }


def described(path: str, folder: str, digest: str, size: int | None = None) -> dict[str, Any]:
    """Returns the entry for a file. folder: that of the manifest. size: in bytes, if known."""
    bytes_ = {} if size is None else {"bytes": size}
    return {"path": path.removeprefix(folder), **bytes_, "xxh3_128": digest}


def rows_manifest(
    name: str, options: Mapping[str, Any], tokenizer: Identity, statistics: Statistics, made: Sequence[Partition]
) -> dict[str, Any]:
    """Returns the manifest of a dataset in HDF5, whose checksums are of the rows, without compression.

    options: that rows depend on. statistics: of all rows. made: the partitions with the files.
    """
    discarded, lost = statistics.discarded_documents, statistics.dropped_tokens
    reasons = sorted({*discarded, *lost})
    return {
        "version": VERSION,
        "dataset": name,
        "format": "hdf5",
        "unit": "row",
        "tokenizer": told(tokenizer),
        "separator": {"where": "after", "id": tokenizer.eos_id},
        "options": dict(options),
        "documents": statistics.processed_files,
        "ids": sum(partition.counters(H5_DATASET_STATS)["num_tokens"] for partition in made),
        "units": statistics.n_examples,
        "dropped": {reason: {"documents": discarded[reason], "ids": lost[reason]} for reason in reasons},
        "files": list(_files(made, f"tokens/{name}/")),
    }


def _files(made: Sequence[Partition], folder: str) -> Iterator[dict[str, Any]]:
    for partition in made:
        for file in (file for file in partition.record.files if not file.derived):
            # Not its size: that of compressed rows is not always the same (see `hdf5_writer`).
            yield described(file.path, folder, file.digest) | {"units": file.rows}
