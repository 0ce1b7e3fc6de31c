"""The small corpus with datasets in trainers' formats, and what their files should hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.stage.partition import Partition
from tests.build.small import drive, opened, write_config, write_small


def exported(folder: Path, *datasets: Mapping[str, Any], **changes: Any) -> Corpus:
    """The small corpus with these datasets alone, built up to their manifests. changes: values by dotted key."""
    if not (folder / "raw" / "books").exists():
        write_small(folder)
    write_config(folder, {"datasets": list(datasets), **changes})
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select([f"+{dataset['name']}_manifest" for dataset in datasets]))
    assert (done.failed, done.waiting) == ([], [])
    return corpus


NO_TEXT = "\ufeff"
"""A text of which ftfy leaves nothing."""


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    """All partitions of an asset, in order."""
    planner = corpus.planner()
    records, keys = planner.records(asset), planner.partitions(corpus.graph[asset])
    return [Partition(corpus.storage, records[key]) for key in keys]


def tokenizer_of(corpus: Corpus) -> LoadedTokenizer:
    """The tokenizer that the datasets share."""
    return load_tokenizer_of(partitions(corpus, "tokenizer")[0])


def encoded(corpus: Corpus, asset: str = "decontaminated_train") -> dict[str | None, list[list[int]]]:
    """The ids of every document of each partition, encoded one by one by the reference."""
    tokenizer = tokenizer_of(corpus)
    return {
        partition.key: [tokenizer.encode_plain([document.text]).ids.tolist() for document in partition.documents()]
        for partition in partitions(corpus, asset)
    }


def stream_of(corpus: Corpus, after: int | None) -> dict[str | None, list[int]]:
    """The ids of each partition one after another, with a separator after every document that has ids."""
    tail = [] if after is None else [after]
    return {
        key: [id_ for ids in documents if ids for id_ in [*ids, *tail]] for key, documents in encoded(corpus).items()
    }


def manifest_of(corpus: Corpus, dataset: str) -> dict[str, Any]:
    """The manifest of a dataset."""
    (partition,) = partitions(corpus, f"{dataset}_manifest")
    found: dict[str, Any] = partition.json("manifest.json")
    return found


def folder_of(folder: Path, dataset: str) -> Path:
    """Where the files of a dataset are."""
    return folder / "corpus" / "exports" / dataset
