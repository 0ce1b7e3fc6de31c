"""Datasets of texts as their stages need them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.text_exports import TextExport, is_text, text_section
from corpus_assets.export.format import ROOT
from corpus_assets.export.texts.rows import keys_read

Settings = Mapping[str, Any]
_NOT_CONTENT = {"name", "tokenizer", "weights", "max_discarded"}


@dataclass(frozen=True)
class TextDataset:
    """A dataset of texts. values: its entry in corpus.yaml, as plain values that reach worker processes."""

    name: str
    values: Settings

    @property
    def section(self) -> TextExport:
        """Its options."""
        return text_section(self.values)

    @property
    def shard_set(self) -> str | None:
        """The dataset itself when it reads files of its own; None when it reads a split."""
        return self.name if isinstance(self.values["input"], Mapping) else None

    @property
    def rows_from(self) -> str:
        """Asset that holds its documents or examples."""
        if self.shard_set:
            return names.examples(self.name)
        return names.documents(self.name) if self.values["weights"] else str(self.values["input"])

    @property
    def parameters(self) -> dict[str, Any]:
        """What its files depend on, by key of its section."""
        options = {key: value for key, value in self.values.items() if key not in _NOT_CONTENT}
        return {**options, "input": "files" if self.shard_set else options["input"]}

    @property
    def keys_read(self) -> frozenset[str]:
        """Keys of the metadata that its rows are made of."""
        return keys_read(self.section)

    def path(self, name: str) -> str:
        """Returns where a file of the dataset is in the store."""
        return f"{ROOT}/{self.name}/{name}"


def text_datasets(datasets: Sequence[Settings]) -> list[TextDataset]:
    """Returns the datasets of texts, in configured order."""
    return [TextDataset(entry["name"], dict(entry)) for entry in datasets if is_text(entry)]


def text_dataset(datasets: Sequence[Settings], name: str) -> TextDataset:
    """Returns one of them, which there is."""
    (found,) = (dataset for dataset in text_datasets(datasets) if dataset.name == name)
    return found
