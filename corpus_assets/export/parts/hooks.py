"""The parts of a dataset before anything is computed: all have one tokenizer, and its separators are in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.document_exports import MegatronExport
from corpus_assets.config.datasets.masked import longest
from corpus_assets.export.datasets import ExportedDataset, Settings
from corpus_assets.export.format import Build
from corpus_assets.tokenize import tokenizer
from corpus_assets.tokenize.datasets import tokenizer_section
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.hashing import value_digest
from resources.stage.hooks import Hooks
from resources.stage.task import Task

_OF_TEXTS = ("separator", "separator_token", "long_documents")


def tokenizers(dataset: ExportedDataset) -> Sequence[str]:
    """Returns the assets with the tokenizers of a dataset and of its parts, each once."""
    return list(dict.fromkeys([dataset.tokenizer, *(part.tokenizer for part in dataset.parts)]))


def text_build(dataset: ExportedDataset, task: Task) -> Build[Any]:
    """Returns what the texts of its parts share: the separators, and the type of ids."""
    loaded = load_tokenizer_of(task.input(dataset.tokenizer), dataset.added_token)
    return _build(dataset, loaded)


def _build(dataset: ExportedDataset, loaded: Tokenizer) -> Build[Any]:
    options = {key: dataset.values[key] for key in ("separator", "separator_token")}
    return Build.of(dataset.name, MegatronExport.model_construct(None, **options), loaded)


def require_one_tokenizer(dataset: ExportedDataset, digests: Mapping[str, str]) -> None:
    """Raises `ConfigError` if parts have another tokenizer than their dataset. digests: of tokenizers, by asset."""
    for part in dataset.parts:
        if digests[part.tokenizer] != digests[dataset.tokenizer]:
            raise ConfigError(
                f"datasets.{dataset.name}.parts.{part.name}: its ids are those of {part.tokenizer} "
                f"({digests[part.tokenizer]}), and those of the dataset are of {dataset.tokenizer} "
                f"({digests[dataset.tokenizer]}); valid: the same tokenizer"
            )


@dataclass(frozen=True)
class PartsHooks(Hooks):
    """The hooks of the token stream of a dataset of parts."""

    dataset: ExportedDataset

    @override
    def derived_parameters(self, settings: Settings) -> Settings:
        values, where = self.dataset.values, f"datasets.{self.dataset.name}"
        options = {key: values[key] for key in _OF_TEXTS} | {"longest_document": longest(values)}
        options["parts"] = {part.name: part.stream for part in self.dataset.parts}
        return {f"{where}.{key}": value for key, value in options.items()}

    @override
    def check_before(self, settings: Settings) -> None:
        found = {asset: _loaded(settings, asset) for asset in tokenizers(self.dataset)}
        require_one_tokenizer(self.dataset, {asset: digest for asset, (digest, _) in found.items()})
        if (loaded := found[self.dataset.tokenizer][1]) is not None:
            _build(self.dataset, loaded)


def _loaded(settings: Settings, asset: str) -> tuple[str, Tokenizer | None]:
    """Returns the digest of a tokenizer, and the tokenizer; of one that will be trained the digest of its options."""
    owners = [entry["name"] for entry in settings["datasets"] if entry["tokenizer"]]
    owner = next((name for name in owners if names.tokenizer(name) == asset), None)
    options, where = tokenizer_section(settings, owner)
    loaded = tokenizer.check_tokenizer(options, where)
    return (value_digest(dict(options)) if loaded is None else loaded.digest), loaded
