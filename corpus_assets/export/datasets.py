"""Datasets in the formats of trainers, and the token streams that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import export_section, is_export, makes_as_dolma
from corpus_assets.config.datasets.masked import is_masked
from corpus_assets.config.datasets.options import Cleaning, StrippedCleaning
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, Format
from corpus_assets.export.mixture import mixed
from corpus_assets.export.registry import format_of
from corpus_assets.export.weights.uses import Mix
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from resources.errors import ConfigError
from resources.hashing import value_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

CLEANING = (*Cleaning.model_fields,)
_NO_CLEANING = {key: field.default for key, field in Cleaning.model_fields.items()}
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class ExportedDataset:
    """A dataset in a trainer's format for its stages, as plain values that can be sent to workers.

    values: its entry in corpus.yaml; a mix names, for the datasets of each set, the assets with their token streams.
    tokenizer: the asset of its tokenizer.
    stream: the name of its token stream, which other datasets may share; empty for a mix, which reads `mixed`, the
        token streams of other datasets.
    """

    name: str
    values: Settings
    tokenizer: str
    stream: str
    mixed: tuple[str, ...] = ()

    @property
    def shard_set(self) -> str | None:
        """The dataset itself when it reads files of its own; None when it reads a split."""
        return self.name if isinstance(self.values["input"], Mapping) else None

    @property
    def streams(self) -> tuple[str, ...]:
        """The assets with its ids, in the order in which they are read."""
        return self.mixed or (names.token_stream(self.stream),)

    @property
    def rows_from(self) -> str:
        """Asset that holds its documents or examples; of a mix, all of them."""
        if self.mixed:
            return ", ".join(self.mixed)
        if reads_tokens(self.values):
            return names.raw_source(self.name)
        return names.examples(self.name) if self.shard_set else str(self.values["input"])

    @property
    def after(self) -> str | None:
        """The dataset after which its weights take documents; None if they begin with all of them."""
        return (self.values.get("weights") or {}).get("after")

    @property
    def section(self) -> Export:
        """Its options."""
        return export_section(self.values)

    @property
    def format(self) -> Format[Any]:
        """How its files are written."""
        return format_of(self.section)

    @property
    def cleaning(self) -> dict[str, Any]:
        """How its texts are cleaned: options, and `strips` if white space at their ends is left out."""
        options = {**_NO_CLEANING, **{key: self.values[key] for key in CLEANING if key in self.values}}
        return options | {"strips": True} if makes_as_dolma(self.values) else options

    @property
    def cleaner(self) -> Cleaning:
        """The same as an object for `clean`."""
        kind = StrippedCleaning if makes_as_dolma(self.values) else Cleaning
        return kind.model_validate({key: self.values[key] for key in CLEANING if key in self.values})

    @property
    def masked(self) -> bool:
        """True if its documents have a loss mask; then they are what its mode makes."""
        return is_masked(self.values)

    @property
    def added_token(self) -> str | None:
        """The token between prompts and completions, which its tokenizer has in addition."""
        return self.values.get("separator") if self.masked else None

    @property
    def together(self) -> bool:
        """True if all its files are one partition."""
        return self.format.is_together(self.section)

    def build(self, task: Task) -> Build[Any]:
        """Returns what its partitions share."""
        return Build.of(self.name, self.section, load_tokenizer_of(task.input(self.tokenizer), self.added_token))

    def documents(self, stream: Partition, build: Build[Any], mix: Mix | None) -> Documents:
        """Returns the documents that its files hold of a partition of the stream. mix: None without weights."""
        documents = Documents.of(stream, build.before, build.after, empty=self.format.empty)
        if build.around is not None:
            documents = documents.between(*build.around)
        if build.section.keeps_own_separators:
            documents = documents.without_own_separators()
        return documents if mix is None else mixed(documents, mix)

    def units(self, stream: Partition, build: Build[Any], mix: Mix | None) -> Documents:
        """Returns them as the units of its files hold them, such as in pieces."""
        return self.format.cut(self.documents(stream, build, mix), build.section)


def exported_datasets(datasets: Sequence[Settings]) -> list[ExportedDataset]:
    """Returns the datasets in a trainer's format. Those with the same texts, tokenizer and cleaning share a stream."""
    return [dataset for dataset in streamed_datasets(datasets) if is_export(dataset.values)]


def streamed_datasets(datasets: Sequence[Settings]) -> list[ExportedDataset]:
    """Returns the same and those in HDF5 whose tokens must be counted (weights), or that read files of ids."""
    first: dict[str, str] = {}
    found = []
    exports = [entry for entry in datasets if is_export(entry) or entry.get("weights") or reads_tokens(entry)]
    stream_of = {entry["name"]: _stream_name(entry) for entry in exports if not _is_mix(entry)}
    for entry in exports:
        name = entry["name"]
        owner = first.setdefault(stream_of[name], name) if name in stream_of else name
        asset = names.tokenizer(owner) if entry["tokenizer"] else names.SHARED_TOKENIZER
        if name in stream_of:
            values = {**entry, "weights": None} if is_masked(entry) else dict(entry)
            found.append(ExportedDataset(name, values, asset, stream_of[name]))
        else:
            sets = [
                {**one, "datasets": [names.token_stream(stream_of[part]) for part in one["datasets"]]}
                for one in entry["input"]
            ]
            read = tuple(stream for one in sets for stream in one["datasets"])
            found.append(ExportedDataset(name, {**entry, "input": sets}, asset, "", read))
    _require_one_stream({dataset.name: dataset for dataset in found})
    return found


def _require_one_stream(datasets: Mapping[str, ExportedDataset]) -> None:
    """Raises `ConfigError` for a dataset that goes on after one of other texts, or of other ids."""
    for name, dataset in datasets.items():
        if dataset.after is not None and datasets[dataset.after].stream != dataset.stream:
            raise ConfigError(
                f"datasets.{name}.weights.after: {dataset.after!r} is of other texts or ids; valid: a dataset with "
                "the same input, tokenizer and cleaning"
            )


def _is_mix(entry: Settings) -> bool:
    """Returns whether a dataset is made of the token streams of others."""
    return isinstance(entry["input"], Sequence) and not isinstance(entry["input"], str)


def _stream_name(entry: Settings) -> str:
    """Returns a name that equal streams share, and that does not depend on other datasets."""
    if is_masked(entry):
        return f"{entry['name']}_masked"
    if isinstance(entry["input"], Mapping):
        return names.own_stream(entry["name"])
    tokenizer_options = {key: value for key, value in (entry["tokenizer"] or {}).items() if key != "backend"}
    cleaning = [entry.get(key, usual) for key, usual in _NO_CLEANING.items()]
    special = [tokenizer_options, *cleaning, *(["strips"] if makes_as_dolma(entry) else [])]
    usual = [{}, *_NO_CLEANING.values()]
    return str(entry["input"]) if special == usual else f"{entry['input']}_{value_digest(special)[:8]}"
