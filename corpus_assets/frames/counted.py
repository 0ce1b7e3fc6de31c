"""Frames of documents and tokens by source, split and dataset: the numbers that the report shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from corpus_assets import dataset_names as names
from corpus_assets.frames.columns import COUNT, TEXT, Columns, frame
from corpus_assets.frames.look import Look
from corpus_assets.report.datasets import datasets as counted_datasets
from corpus_assets.report.flow import SPLITS
from corpus_assets.report.flow import splits as counted_splits
from corpus_assets.report.model import BySource, Dataset
from corpus_assets.report.records import Built

if TYPE_CHECKING:
    from pandas import DataFrame

_BUILT: Columns = {"built": COUNT, "partitions": COUNT}
Row = tuple[Any, ...]
Numbers = Mapping[str, int]


def splits(look: Look) -> DataFrame:
    """Returns the documents of each split by source: see `Frames.splits`."""
    columns: Columns = {
        "split": list(SPLITS),
        "source": look.sources,
        "documents": COUNT,
        "text_bytes": COUNT,
        **_BUILT,
    }
    return frame(columns, _splits(look))


def _splits(look: Look) -> Iterator[Row]:
    built = look.built()
    for split in counted_splits(built):
        whole = {"documents": split.documents, "text_bytes": split.text_bytes}
        for source, numbers in _sources(split.by_source, whole):
            known = numbers.get("documents"), numbers.get("text_bytes")
            yield split.name, source, *known, len(built[split.name]), look.expected(split.name)


def datasets(look: Look) -> DataFrame:
    """Returns the totals of each dataset: see `Frames.datasets`."""
    columns: Columns = {
        "dataset": _names(look),
        "format": TEXT,
        "split": list(SPLITS),
        "sequence_length": COUNT,
        "rows": COUNT,
        "documents": COUNT,
        "tokens": COUNT,
        "loss_tokens": COUNT,
        "slots": COUNT,
        **_BUILT,
    }
    built = look.built()
    return frame(columns, (_dataset(look, built, one) for one in _datasets(look, built)))


def _dataset(look: Look, built: Built, one: Dataset) -> Row:
    asset = _files(one)
    numbers = one.rows, one.documents, one.tokens, one.loss_tokens, one.slots
    return one.name, one.format, _split(one), one.sequence_length, *numbers, len(built[asset]), look.expected(asset)


def tokens(look: Look) -> DataFrame:
    """Returns the tokens of each dataset by source: see `Frames.tokens`."""
    columns: Columns = {
        "dataset": _names(look),
        "split": list(SPLITS),
        "source": look.sources,
        "documents": COUNT,
        "text_bytes": COUNT,
        "tokens": COUNT,
        "loss_tokens": COUNT,
        **_BUILT,
    }
    built = look.built()
    return frame(columns, (row for one in _datasets(look, built) for row in _tokens(look, built, one)))


def _tokens(look: Look, built: Built, one: Dataset) -> Iterator[Row]:
    sequences = names.sequences(one.name)
    asset = sequences if built.get(sequences) else _files(one)
    whole = {"documents": one.documents, "tokens": one.tokens, "loss_tokens": one.loss_tokens}
    for source, numbers in _sources(one.by_source, whole):
        known = (numbers.get(name) for name in ("documents", "text_bytes", "tokens", "loss_tokens"))
        yield one.name, _split(one), source, *known, len(built[asset]), look.expected(asset)


def _files(one: Dataset) -> str:
    return names.files({"name": one.name, "format": one.format})


def _sources(by_source: BySource | None, whole: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yields the numbers of each source; those of all together, of no source, where there are none."""
    if not by_source:
        yield None, whole
    else:
        yield from sorted(by_source.items())


def _datasets(look: Look, built: Built) -> list[Dataset]:
    return counted_datasets(built, look.corpus.settings.values)


def _names(look: Look) -> list[str]:
    return [entry["name"] for entry in look.corpus.settings.values["datasets"]]


def _split(one: Dataset) -> str | None:
    """Returns the split that a dataset is made of; None for one with files of its own, or made of other datasets."""
    return one.input if one.input in SPLITS else None
