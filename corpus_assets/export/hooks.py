"""Hooks of the stages of datasets in the formats of trainers, and checks before a build."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import export_section, format_name, shares_rows
from corpus_assets.config.datasets.masked import has_parts, is_masked
from corpus_assets.config.selection.mixing import unit_names
from corpus_assets.export.datasets import CLEANING, ExportedDataset, Settings
from corpus_assets.export.format import Build, totals_of
from corpus_assets.export.masked.long import LONG_DOCUMENT
from corpus_assets.export.registry import format_of
from corpus_assets.export.weights.shares import fitted_on
from corpus_assets.export.weights.tables import file_key, require_units, weights_of
from corpus_assets.tokenize import tokenizer
from corpus_assets.tokenize.datasets import dataset_run_options
from corpus_assets.tokenize.encode.attempts import slower_notes
from corpus_assets.tokenize.named_tokens import check_tokens, named_tokens
from resources.config_files import read_outside
from resources.errors import ConfigError
from resources.stage.hooks import Hooks
from resources.stage.partition import Partition

WEIGHTS = "weights"
"""The local file with the shares of sources."""
MAY_BE_EMPTY, EMPTY = "may_be_empty", "sources_without_tokens"
MIXED_UNITS, PARTS_OF_UNITS, ORDERED = "mixed_units", "units", "ordered"
"""The asset with the units of documents; parameters: the names of their parts, and whether the mix has an order."""
MAX_WEIGHTS_BYTES = 1 << 20
_LATER, _TOLD = ("after",), "fitted_on"
"""Keys of weights that are no parameter if they are not given, and one that never is."""
_NOT_CONTENT = {"name", "tokenizer", "weights", *CLEANING}
_UNREAD_IF_MASKED = {"separator", "separator_token", "reader", "long_documents"}


def _entry(settings: Settings, name: str) -> Settings:
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    return dict(dataset)


def _may_be_empty(settings: Settings, name: str) -> Iterator[str]:
    """Yields the sources of a dataset that may be empty; of one with parts, the parts made of files that may be."""
    if not has_parts(entry := _entry(settings, name)):
        yield from (source["name"] for source in settings["sources"] if source["may_be_empty"])
        return
    for part, made_of in entry["parts"].items():
        given = _entry(settings, made_of["dataset"])["input"] if made_of["dataset"] else None
        if isinstance(given, Mapping) and given.get("may_be_empty"):
            yield part


@dataclass(frozen=True)
class MixtureHooks(Hooks):
    """The hooks of the mixture of a dataset."""

    dataset: ExportedDataset
    by_unit: bool = False

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        where = f"datasets.{self.dataset.name}.weights"
        given = _entry(settings, self.dataset.name)["weights"]
        units = settings["mix"]["units"] if self.by_unit else ()
        weights = weights_of(given, self.local_files(settings).get(WEIGHTS), where, unit_names(units))
        values = {key: value for key, value in given.items() if key not in _LATER or value is not None}
        values.pop(_TOLD)
        if (key := file_key(given)) is not None:
            values[key] = dict(weights.given())
        asked = weights.given()
        if self.by_unit:
            require_units(weights, units, [source["name"] for source in settings["sources"]], where)
            values[PARTS_OF_UNITS] = unit_names(units)
        elif permitted := [name for name in _may_be_empty(settings, self.dataset.name) if asked.get(name)]:
            values[MAY_BE_EMPTY] = permitted
        if isinstance(settings["mix"]["order"], Mapping) and not self.dataset.parts and not self.dataset.shard_set:
            values[ORDERED] = True
        return {f"{where}.{key}": value for key, value in values.items()}

    @override
    def local_files(self, settings: Settings) -> Mapping[str, bytes]:
        given = _entry(settings, self.dataset.name)["weights"]
        if (key := file_key(given)) is None:
            return {}
        return {WEIGHTS: read_outside(f"datasets.{self.dataset.name}.weights.{key}", given[key], MAX_WEIGHTS_BYTES)}

    @override
    def compares(self, content: Callable[[str], str | None], settings: Settings) -> Iterator[str]:
        given = _entry(settings, self.dataset.name)["weights"]
        key = file_key(given) or ("tokens" if given["tokens"] else "shares")
        told = dict(given["fitted_on"] or {})
        for table in self.local_files(settings).values():
            told |= fitted_on(table)
        for asset, digest in told.items():
            if (now := content(asset)) != digest:
                why = "it has changed since" if now else "there is none of it"
                yield (
                    f"datasets.{self.dataset.name}.weights.{key}: weights were fitted on other content of {asset}; "
                    f"{why} (`corpus weights {self.dataset.name}` shows what there is now)"
                )

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterator[str]:
        where = f"datasets.{self.dataset.name}.weights"
        for partition in partitions:
            for source in partition.record.statistics.get(EMPTY, ()):
                yield f"{where} {source!r}: it has no documents, so the others share what it should have"


@dataclass(frozen=True)
class StreamHooks(Hooks):
    """The hooks of a token stream, for the first dataset that has it."""

    dataset: ExportedDataset

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        return {f"cleaning.{key}": value for key, value in self.dataset.cleaning.items()}

    @override
    def run_options(self, settings: Settings) -> Settings:
        return dataset_run_options(settings, self.dataset.name)

    @override
    def kernels(self, settings: Settings) -> Sequence[str]:
        return ("corpus_assets.tokenize.kernels.unlike.marked_texts",)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterator[str]:
        return slower_notes(partitions, names.token_stream(self.dataset.stream))


@dataclass(frozen=True)
class ManifestHooks(Hooks):
    """The hooks of the manifest of a dataset."""

    dataset: ExportedDataset

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        return export_parameters(settings, self.dataset.name)


class FilesHooks(ManifestHooks):
    """The hooks of the files of a dataset."""

    @override
    def check_before(self, settings: Settings) -> None:
        check_export(settings, self.dataset.name)

    @override
    def kernels(self, settings: Settings) -> Sequence[str]:
        return self.dataset.format.kernels

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterator[str]:
        totals = totals_of(partitions)
        for words in self.dataset.format.notes(totals):
            yield f"dataset {self.dataset.name}: {words}"
        if lost := totals["dropped"].get(LONG_DOCUMENT):
            yield (
                f"dataset {self.dataset.name}: {lost['ids']:,} of {totals['ids']:,} ids are in no row, as documents "
                "are longer than one (`long_documents`)"
            )


def export_parameters(settings: Settings, name: str) -> dict[str, Any]:
    """Returns the parameters of a dataset's files: its options without those of its token stream."""
    entry = _entry(settings, name)
    section = export_section(entry)
    if is_masked(entry):
        known = type(section).model_fields.keys() - _NOT_CONTENT - _UNREAD_IF_MASKED
        options = {key: getattr(section, key) for key in sorted(known)}
        options["input"] = "files" if isinstance(options["input"], Mapping) else options["input"]
        if has_parts(entry):
            options["parts"] = entry["parts"]
        return {f"datasets.{name}.{key}": value for key, value in options.items()}
    unset = {key for key in section.later if entry[key] is None}
    options = {key: value for key, value in entry.items() if key not in _NOT_CONTENT | unset}
    options |= section.more_parameters
    if shares_rows(entry):
        options |= {key: getattr(section, key) for key in ("columns", "packing", "long_documents")}
        options.pop("reader", None)
    if isinstance(options["input"], Mapping):
        options["input"] = "files"
    return {f"datasets.{name}.{key}": value for key, value in options.items()}


def check_export(settings: Settings, name: str) -> None:
    """Raises `ConfigError` if the format cannot hold the dataset, or the tokenizer lacks the separator."""
    entry = _entry(settings, name)
    own = f"datasets.{name}.tokenizer" if entry["tokenizer"] else "tokenizer"
    options = entry["tokenizer"] or settings["tokenizer"]
    loaded = tokenizer.check_tokenizer(options, own)
    section = export_section(entry)
    check_tokens(named_tokens(type(section), entry, f"datasets.{name}"), options, loaded)
    if loaded is not None:
        Build.of(name, section, loaded)
    vocabulary = loaded.vocab_size if loaded else options.get("vocabulary")
    if vocabulary is not None:
        require_possible(name, section, vocabulary)


def require_possible(name: str, section: Export, vocabulary: int) -> None:
    """Raises `ConfigError` for a vocabulary, or options, with which a format cannot hold a dataset."""
    if section.most_ids is not None and vocabulary > section.most_ids:
        raise ConfigError(
            f"datasets.{name}: format {format_name(section)} holds ids up to {section.most_ids - 1:,}, and the "
            f"tokenizer has {vocabulary:,} entries; valid: a smaller vocabulary, or another format"
        )
    for reason in format_of(section).refuses(section, vocabulary):
        raise ConfigError(f"datasets.{name}: {reason}")
