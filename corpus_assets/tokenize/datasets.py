"""The configured datasets for their stages: the parameters of their rows, and checks before a build."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.masked import MaskedOptions, is_masked, longest
from corpus_assets.config.datasets.masked_modes import UNREAD
from corpus_assets.config.datasets.modes import dataset_section
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.tokenize import compiled, named_tokens, notes, tokenizer, tokens
from corpus_assets.tokenize.counts.losses import conversation_losses
from corpus_assets.tokenize.encode.attempts import BACKEND
from corpus_assets.tokenize.modes.dpo import before_answer
from corpus_assets.tokenize.modes.registry import mode_of
from corpus_assets.tokenize.template_files import template_source
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer
from resources.errors import ConfigError
from resources.hashing import content_digest
from resources.shards.listing import Listing
from resources.stage.hooks import Hooks, Records
from resources.stage.partition import Partition

_NOT_CONTENT = {"name", "tokenizer", "chat_template", "format", "compat", "weights", "max_discarded"}
# Version of the loss in modes with answers by the template; a value, so that rows of other modes stay fresh.
_LEARNED = {
    "chat": "after the prompt for an answer, up to its end, wherever its calls are named again; no nulls",
    "dpo": "after the prompt for an answer, whatever delimiter it has, with one end; spelled tokens in text",
    "fim": "with its tokens as control tokens",
}
# Only where it counts, for the same reason.
_SPACES = "white space beside control tokens as the tokenizers library has it"
LONGEST = "longest_document"
"""Most ids of a masked document."""
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Dataset:
    """A configured dataset for its stages, as plain values that can be sent to workers."""

    name: str
    values: Settings

    @property
    def shard_set(self) -> str | None:
        """The dataset itself when it reads files of its own; None when it reads a split."""
        return self.name if isinstance(self.values["input"], Mapping) else None

    @property
    def rows_from(self) -> str:
        """Asset that holds its documents or examples."""
        if self.values.get("weights"):
            return names.documents(self.name)
        if reads_tokens(self.values):
            return names.token_stream(names.own_stream(self.name))
        return names.examples(self.name) if self.shard_set else str(self.values["input"])

    @property
    def tokenizer(self) -> str:
        """Asset that holds its tokenizer."""
        return names.tokenizer(self.name) if self.values["tokenizer"] else names.SHARED_TOKENIZER

    @property
    def carries_over(self) -> bool:
        """True if rows depend on the files before theirs, so that all of them are one partition."""
        return dataset_section(self.values).carries_over

    @property
    def shuffled(self) -> bool:
        """True if its rows are permuted over its files."""
        return bool(self.values["shuffle"])


def entry_of(settings: Settings, name: str) -> Settings:
    """Returns the entry of a dataset in the configuration."""
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    return dict(dataset)


@dataclass(frozen=True)
class TokenizerHooks(Hooks):
    """The hooks of a tokenizer: that of a dataset, or for None that of the corpus."""

    dataset: str | None

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        return tokenizer.tokenizer_parameters(*tokenizer_section(settings, self.dataset))

    @override
    def local_files(self, settings: Settings) -> Mapping[str, bytes]:
        return tokenizer.tokenizer_files(*tokenizer_section(settings, self.dataset))

    @override
    def check_before(self, settings: Settings) -> None:
        tokenizer.check_tokenizer(*tokenizer_section(settings, self.dataset))

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterable[str]:
        return tokenizer.vocabulary_note(partitions, tokenizer_section(settings, self.dataset)[0])


@dataclass(frozen=True)
class DatasetHooks(Hooks):
    """The hooks of every stage that makes rows of a dataset, or the masked documents of one."""

    dataset: Dataset

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        return dataset_parameters(settings, self.dataset.name)

    @override
    def local_files(self, settings: Settings) -> Mapping[str, bytes]:
        """Returns the chat template, if the dataset has one of its own."""
        given = entry_of(settings, self.dataset.name).get("chat_template")
        return {tokens.TEMPLATE: _template(given, self.dataset.name)} if given else {}

    @override
    def run_options(self, settings: Settings) -> Settings:
        return dataset_run_options(settings, self.dataset.name)


class RowsHooks(DatasetHooks):
    """The hooks of a stage that writes rows of a dataset."""

    @override
    def check_before(self, settings: Settings) -> None:
        check_dataset(settings, self.dataset.name)

    @override
    def kernels(self, settings: Settings) -> Sequence[str]:
        section, backend = dataset_section(self.dataset.values), self.run_options(settings)[BACKEND]
        if is_masked(self.dataset.values):
            return compiled.of_masked(section, backend)
        return compiled.of_rows(section, mode_of(section).layout, backend)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterable[str]:
        return notes.row_notes(partitions, settings, self.dataset.name)


class JudgedRowsHooks(RowsHooks):
    """The hooks of rows that are held back if too many examples give none."""

    @override
    def gate_all(self, records: Records, settings: Settings, listing: Listing) -> Sequence[str]:
        return conversation_losses(records, settings, listing, self.dataset.name)


class MergedRowsHooks(RowsHooks):
    """The hooks of the stage that merges the rows of a shuffled dataset."""

    @override
    def kernels(self, settings: Settings) -> Sequence[str]:
        return compiled.of_gathered(mode_of(dataset_section(self.dataset.values)).layout)


class ParamsHooks(DatasetHooks):
    """The hooks of `data_params.json`."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Settings) -> Iterable[str]:
        return notes.discarded_notes(partitions, settings, self.dataset.name)


def dataset_parameters(settings: Settings, name: str) -> dict[str, Any]:
    """Returns what rows depend on: options of the dataset, the content of its template, and the files of a shuffle."""
    entry = entry_of(settings, name)
    options = {key: value for key, value in entry.items() if key not in _NOT_CONTENT}
    if isinstance(entry["input"], Mapping):
        options["input"] = "files"
    if is_masked(entry):
        options = {
            key: value for key, value in options.items() if key not in MaskedOptions.model_fields.keys() | UNREAD
        }
        options |= {LONGEST: longest(entry), "shuffle": False}
    if not dataset_section(entry).carries_over:
        options.pop("pack_over_files", None)  # It says nothing here.
    if options.get("reference"):
        options.pop("equal_pairs", None)  # Cerebras keeps all.
    elif rule := _LEARNED.get(options.get("mode", "")):
        options["learned"] = rule
        if options["mode"] != "dpo" and tokenizer.spaces_go(tokenizer_section(settings, _own(entry))[0]):
            options["spaces"] = _SPACES
    if not entry["shuffle"]:
        options.pop("shuffle_seed", None)
    else:
        options["files"] = settings["mix"]["chunks"]
    if path := entry.get("chat_template"):
        options["chat_template_digest"] = content_digest(_template(path, name))
    return {f"datasets.{name}.{key}": value for key, value in options.items()}


def _template(given: str, dataset: str) -> bytes:
    return template_source(given, f"datasets.{dataset}.chat_template")


def day_of(entry: Settings) -> date | None:
    """Returns the day that a dataset fixes for its chat template."""
    return date.fromisoformat(entry["day"]) if entry.get("day") else None


def check_delimiter(entry: Settings, source: str | None, values: Settings, key: str) -> None:
    """Raises `ConfigError` for a delimiter that is not written between the prompt and the answer of a preference.

    source: the chat template; None for the `[INST]` style. With `reference` it may be in the texts themselves.
    """
    roles, delimiter = (entry["user_role"], entry["assistant_role"]), entry["response_delimiter"]
    written = before_answer(source, values, roles)
    if written is not None and delimiter not in written:
        raise ConfigError(
            f"{key}.response_delimiter: {delimiter!r} is not in what is written from the beginning of a prompt to its "
            f"answer, which is {written!r}"
        )


def check_dataset(settings: Settings, name: str) -> None:
    """Raises `ConfigError` for a chat template that cannot be used, and for named tokens outside the vocabulary."""
    entry, key = entry_of(settings, name), f"datasets.{name}"
    declared, of_tokenizer = tokenizer_section(settings, _own(entry))
    loaded = tokenizer.check_tokenizer(declared, of_tokenizer)
    values = {**(loaded.template_values if loaded else {}), **entry.get("template_values", {})}
    source, place = None, f"{key}.chat_template"
    if given := entry.get("chat_template"):
        source = _template(given, name).decode()
    elif "chat_template" in entry and not entry.get("reference") and loaded is not None:
        source, place = loaded.chat_template, f"{key}: of the tokenizer"
    if "chat_template" in entry:
        chosen = given or declared.get("chat_template") or ""
        named_tokens.check_control_tokens(chosen, place if given else f"{of_tokenizer}.chat_template", declared, loaded)
    if source is not None:
        tokenizer.check_template(source, place, values, day_of(entry), marks=entry.get("loss_roles", ()) is None)
        tokenizer.check_values(source, f"{key}.template_values", entry.get("template_values", {}))
    if loaded is not None and entry.get("response_delimiter") and not entry["reference"]:
        check_delimiter(entry, source or loaded.chat_template, loaded.template_values, key)
    named = named_tokens.named_tokens(type(dataset_section(entry)), entry, key)
    named_tokens.check_tokens(named, declared, loaded)
    if loaded is not None and source is not None:
        _check_learned(entry, loaded, source, place, f"{of_tokenizer} (kind {loaded.kind})")


def _check_learned(entry: Settings, loaded: LoadedTokenizer, source: str, place: str, of: str) -> None:
    section = dataset_section(entry)
    mode = mode_of(section)
    try:
        mode.check(section, tokenizer.with_control(loaded, mode.control(section, loaded, source)), source)
    except ConfigError as fault:
        raise ConfigError(f"{place}: {fault}; the tokenizer is {of}") from fault


def dataset_run_options(settings: Settings, name: str) -> dict[str, Any]:
    """Returns which library tokenizes."""
    chosen = entry_of(settings, name)["tokenizer"] or settings["tokenizer"]
    return {BACKEND: chosen.get("backend", "tokenizers")}


def _own(entry: Settings) -> str | None:
    """Returns the dataset whose tokenizer a dataset has: itself, or None for that of the corpus."""
    return entry["name"] if entry["tokenizer"] else None


def tokenizer_section(settings: Settings, dataset: str | None) -> tuple[Settings, str]:
    """Returns the settings of a tokenizer, and where they stand."""
    if dataset is None:
        return settings["tokenizer"], "tokenizer"
    return entry_of(settings, dataset)["tokenizer"], f"datasets.{dataset}.tokenizer"
