"""The names of a dataset's or benchmark's assets: unique, and without a slash: the web UI shows only the last part."""

import re
from collections.abc import Mapping
from typing import Any

from corpus_assets.config.datasets.text_exports import is_text

SHARED_TOKENIZER = "tokenizer"
_SPLITS = ("train", "decontaminated_train", "holdout", "validation", "test")


def group(dataset: str) -> str:
    """Returns the group of a dataset's assets: the box around them in the web UI."""
    return "dataset_" + re.sub(r"[-.]", "_", dataset)


def repetitions(deduper: str) -> str:
    """Returns the group of a deduper's assets: one for each, as the filter may lie between two of them."""
    return "repetitions_" + re.sub(r"[-.]", "_", deduper)


def attributes(entry: str) -> str:
    """Returns the asset of an entry of `attributes`."""
    return f"{entry}_attributes"


def raw_source(dataset: str) -> str:
    """Returns the asset with the content versions of a dataset's own files."""
    return f"{dataset}_raw_source"


def examples(dataset: str) -> str:
    """Returns the asset with the examples of a dataset's own files."""
    return f"{dataset}_examples"


def document_keys(dataset: str) -> str:
    """Returns the asset with the keys by which rows of a dataset's own files can be named."""
    return f"{dataset}_document_keys"


def takedown(dataset: str) -> str:
    """Returns the asset with the rows of a dataset's own files that must not be in any output."""
    return f"{dataset}_takedown"


def tokenizer(dataset: str) -> str:
    """Returns the asset with a tokenizer of the dataset's own."""
    return f"{dataset}_tokenizer"


def sequences(dataset: str) -> str:
    """Returns the asset with the rows of a shuffled dataset in the order of their keys."""
    return f"{dataset}_sequences"


def tokens(dataset: str) -> str:
    """Returns the asset with the token files."""
    return f"{dataset}_tokens"


def texts(dataset: str) -> str:
    """Returns the asset with the files of a dataset that holds texts."""
    return f"{dataset}_texts"


def files(entry: Mapping[str, Any]) -> str:
    """Returns the asset with the files that a trainer reads of a dataset, given its entry in corpus.yaml."""
    return texts(entry["name"]) if is_text(entry) else tokens(entry["name"])


def params(dataset: str) -> str:
    """Returns the asset with `data_params.json`."""
    return f"{dataset}_token_params"


def manifest(dataset: str) -> str:
    """Returns the asset with the manifest of a dataset, and with the index files of its format."""
    return f"{dataset}_manifest"


def mixture(dataset: str) -> str:
    """Returns the asset with the uses of the documents of each source."""
    return f"{dataset}_mixture"


def documents(dataset: str) -> str:
    """Returns the asset with the documents of a split as often as the weights of a dataset in HDF5 say."""
    return f"{dataset}_documents"


def token_stream(name: str) -> str:
    """Returns the asset with the ids of whole documents."""
    return f"{name}_token_stream"


def own_stream(dataset: str) -> str:
    """Returns the name of the token stream of a dataset's own files."""
    return f"{dataset}_files" if dataset in _SPLITS else dataset


def masked_stream(dataset: str) -> str:
    """Returns the name of the token stream of a dataset with a loss mask."""
    return f"{dataset}_masked"


def items(benchmark: str) -> str:
    """Returns the asset with the items of a benchmark's files."""
    return f"{benchmark}_items"
