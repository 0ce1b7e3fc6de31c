"""Datasets in the formats of trainers, and the token streams that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import export_section, is_export, makes_as_dolma
from corpus_assets.config.datasets.masked import has_parts, is_masked
from corpus_assets.config.datasets.options import Cleaning, StrippedCleaning
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, Format
from corpus_assets.export.mixture import mixed
from corpus_assets.export.registry import format_of
from corpus_assets.export.weights.stored import StoredMix
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from resources.errors import ConfigError
from resources.hashing import value_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

CLEANING = (*Cleaning.model_fields,)
_NO_CLEANING = {key: field.default for key, field in Cleaning.model_fields.items()}
_IDS = ("pre_tokenize",)
"""Values of `compat` with which the ids of a text are other ones."""
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A part of a dataset of parts.

    stream, tokenizer: the assets with its ids and with their tokenizer; of_files: its partitions are files.
    masked: its stream says what is learned. added_token: as in `ExportedDataset`.
    """

    name: str
    stream: str
    tokenizer: str
    of_files: bool
    masked: bool
    added_token: str | None = None


@dataclass(frozen=True)
class ExportedDataset:
    """A dataset in a trainer's format for its stages, as plain values that can be sent to workers.

    values: its entry in corpus.yaml; a mix names, for the datasets of each set, the assets with their token streams.
    tokenizer: the asset of its tokenizer.
    stream: the name of its token stream, which other datasets may share; empty for a mix, which reads `mixed`, the
        token streams of other datasets.
    parts: those that its own token stream is made of.
    texts: the datasets whose token streams are made for its parts, if no other dataset has them.
    """

    name: str
    values: Settings
    tokenizer: str
    stream: str
    mixed: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    texts: tuple["ExportedDataset", ...] = ()

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
        if made_of := self.mixed or tuple(part.stream for part in self.parts):
            return ", ".join(made_of)
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
    def as_pre_tokenize(self) -> bool:
        """True if its ids are those of pre-tokenize, which reads T5 with `legacy=False`."""
        return self.values.get("compat") == "pre_tokenize"

    @property
    def masked(self) -> bool:
        """True if its documents have a loss mask; then they are what its mode makes."""
        return is_masked(self.values)

    @property
    def added_token(self) -> str | None:
        """The token between prompts and completions, which its tokenizer has in addition."""
        if self.parts:
            return next((part.added_token for part in self.parts if part.added_token), None)
        return self.values.get("separator") if self.masked else None

    @property
    def weights(self) -> Settings | None:
        """Its weights: how often its files use the documents of its token stream; of parts, how often that does."""
        found: Settings | None = self.values["weights_of_parts"] if self.parts else self.values["weights"]
        return found

    @property
    def together(self) -> bool:
        """True if all its files are one partition."""
        return self.format.is_together(self.section)

    def build(self, task: Task) -> Build[Any]:
        """Returns what its partitions share."""
        return Build.of(self.name, self.section, load_tokenizer_of(task.input(self.tokenizer), self.added_token))

    def documents(self, stream: Partition, build: Build[Any], mix: StoredMix | None) -> Documents:
        """Returns the documents that its files hold of a partition of the stream. mix: None without weights."""
        documents = Documents.of(stream, build.before, build.after, empty=self.format.empty)
        if build.around is not None:
            documents = documents.between(*build.around)
        if build.section.keeps_own_separators:
            documents = documents.without_own_separators()
        return documents if mix is None else mixed(documents, mix)

    def units(self, stream: Partition, build: Build[Any], mix: StoredMix | None) -> Documents:
        """Returns them as the units of its files hold them, such as in pieces."""
        return self.format.cut(self.documents(stream, build, mix), build.section)


def exported_datasets(datasets: Sequence[Settings]) -> list[ExportedDataset]:
    """Returns the datasets in a trainer's format. Those with the same texts, tokenizer and cleaning share a stream."""
    return [dataset for dataset in streamed_datasets(datasets) if is_export(dataset.values)]


def streamed_datasets(datasets: Sequence[Settings]) -> list[ExportedDataset]:
    """Returns the same and those in HDF5 whose tokens must be counted (weights), or that read files of ids."""
    first: dict[str, str] = {}
    exports = [entry for entry in datasets if is_export(entry) or entry.get("weights") or reads_tokens(entry)]
    found: dict[str, ExportedDataset] = {}
    for entry in (one for one in exports if not _is_mix(one) and not has_parts(one)):
        found[entry["name"]] = _with_stream(entry, first)
    for entry in (one for one in exports if _is_mix(one) or has_parts(one)):
        found[entry["name"]] = (_of_sets if _is_mix(entry) else _of_parts)(entry, found, first)
    _require_one_stream(found)
    return [found[entry["name"]] for entry in exports]


def stream_owners(datasets: Sequence[Settings]) -> list[ExportedDataset]:
    """Returns a dataset for each token stream."""
    owners: dict[str, ExportedDataset] = {}
    for dataset in streamed_datasets(datasets):
        for owner in (*dataset.texts, *([] if dataset.mixed else [dataset])):
            owners.setdefault(owner.stream, owner)
    return list(owners.values())


def _with_stream(entry: Settings, first: dict[str, str]) -> ExportedDataset:
    """Returns a dataset with a token stream. first: the datasets that are first to have each, filled in."""
    name, stream = entry["name"], _stream_name(entry)
    values = {**entry, "weights": entry.get("weights")}  # Not every mode has any.
    return ExportedDataset(name, values, _tokenizer(entry, first.setdefault(stream, name)), stream)


def _tokenizer(entry: Settings, owner: str) -> str:
    return names.tokenizer(owner) if entry["tokenizer"] else names.SHARED_TOKENIZER


def _of_sets(entry: Settings, known: Mapping[str, ExportedDataset], _: dict[str, str]) -> ExportedDataset:
    """Returns a mix of the streams of other datasets."""
    sets = [
        {**one, "datasets": [names.token_stream(known[part].stream) for part in one["datasets"]]}
        for one in entry["input"]
    ]
    read = tuple(stream for one in sets for stream in one["datasets"])
    name = entry["name"]
    return ExportedDataset(name, {**entry, "input": sets}, _tokenizer(entry, name), "", read)


def _of_parts(entry: Settings, known: Mapping[str, ExportedDataset], first: dict[str, str]) -> ExportedDataset:
    """Returns a dataset whose own stream is made of those of its parts."""
    parts: list[Part] = []
    texts: list[ExportedDataset] = []
    for name, part in entry["parts"].items():
        if part["dataset"] is None:
            plain = {"name": entry["name"], "tokenizer": entry["tokenizer"], "input": part["input"], "weights": None}
            texts.append(_with_stream(plain, first))
        of = texts[-1] if part["dataset"] is None else known[part["dataset"]]
        made_of = (names.token_stream(of.stream), of.tokenizer, of.shard_set is not None, of.masked, of.added_token)
        parts.append(Part(name, *made_of))
    values = {**entry, "weights": None, "weights_of_parts": entry["weights"]}
    name = entry["name"]
    tokenizer = _tokenizer(entry, name)
    return ExportedDataset(name, values, tokenizer, _stream_name(entry), parts=tuple(parts), texts=tuple(texts))


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
        return names.masked_stream(entry["name"])
    if isinstance(entry["input"], Mapping):
        return names.own_stream(entry["name"])
    tokenizer_options = {key: value for key, value in (entry["tokenizer"] or {}).items() if key != "backend"}
    cleaning = [entry.get(key, usual) for key, usual in _NO_CLEANING.items()]
    as_others = ["strips"] if makes_as_dolma(entry) else [compat for compat in (entry.get("compat"),) if compat in _IDS]
    special = [tokenizer_options, *cleaning, *as_others]
    usual = [{}, *_NO_CLEANING.values()]
    return str(entry["input"]) if special == usual else f"{entry['input']}_{value_digest(special)[:8]}"
