"""Resolves the paths of a configuration against the folder of corpus.yaml."""

from pathlib import Path
from typing import Any, TypeVar

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.ready_templates import template_in_place
from corpus_assets.config.section import Section, below, expanded
from corpus_assets.config.selection.attribute_files import AttributeFiles
from corpus_assets.config.selection.attributes import Attributes, TaggerOptions
from corpus_assets.config.selection.dedupers import AnyDeduper
from corpus_assets.config.selection.kinds.semantic import Semantic, is_folder
from corpus_assets.config.selection.learned.classifiers import Classifier, Examples
from corpus_assets.config.selection.learned.language_models import LanguageModel
from corpus_assets.config.selection.learned.score_buckets import ScoreBuckets

_PATHS = ("location", "path", "merges", "encoder", "config", "chat_template")
S = TypeVar("S")
AnyEntry = Attributes | AttributeFiles | ScoreBuckets


def with_absolute_paths(config: CorpusConfig, folder: Path) -> CorpusConfig:
    """Returns the configuration with the paths of all raw files, tokenizers, templates, lists and models resolved."""
    sources = [_absolute(source, folder) for source in config.sources]
    datasets = [
        _absolute(dataset, folder).model_copy(
            update={
                "input": _absolute(dataset.input, folder),
                **_weights(dataset, folder),
                "tokenizer": _absolute(dataset.tokenizer, folder),
            }
        )
        for dataset in config.datasets
    ]
    attributes = [_described(entry, folder) for entry in config.attributes]
    classifiers = [_with_examples(entry, folder) for entry in config.classifiers]
    benchmarks = [_absolute(benchmark, folder) for benchmark in config.benchmarks]
    tokenizer = _absolute(config.tokenizer, folder)
    storage = config.storage
    if storage.kind == "local":
        storage = storage.model_copy(update={"root": expanded(storage.root)})
    if storage.cache.folder is not None:
        cache = storage.cache.model_copy(update={"folder": str(folder / expanded(storage.cache.folder))})
        storage = storage.model_copy(update={"cache": cache})
    changed = {
        "sources": sources,
        "attributes": attributes,
        "benchmarks": benchmarks,
        "classifiers": classifiers,
        "language_models": [_with_tokenizer(entry, folder) for entry in config.language_models],
        "dedupers": [_with_model(entry, folder) for entry in config.dedupers],
        "datasets": datasets,
        "tokenizer": tokenizer,
    }
    if config.origins is not None and config.origins.suffix_list is not None:
        path = str(folder / expanded(config.origins.suffix_list))
        changed["origins"] = config.origins.model_copy(update={"suffix_list": path})
    changed |= {"tokenizer": tokenizer, "storage": storage, "remove": _absolute(config.remove, folder)}
    return config.model_copy(update=changed)


def _described(entry: AnyEntry, folder: Path) -> AnyEntry:
    """Returns an entry of `attributes` with the paths of its files resolved."""
    if isinstance(entry, ScoreBuckets):
        return entry
    if isinstance(entry, Attributes):
        return _with_files(entry, folder)
    if isinstance(entry.location, str):
        return _absolute(entry, folder)
    places = {name: below(folder, location) for name, location in entry.location.items()}
    return entry.model_copy(update={"location": places})


def _with_examples(entry: Classifier, folder: Path) -> Classifier:
    def resolved(examples: list[Examples]) -> list[Examples]:
        paths = ({"file": str(folder / expanded(one.file))} if one.file else {} for one in examples)
        return [one.model_copy(update=path) for one, path in zip(examples, paths, strict=True)]

    model = {"model": str(folder / expanded(entry.model))} if entry.model else {}
    return entry.model_copy(
        update={"positive": resolved(entry.positive), "negative": resolved(entry.negative), **model}
    )


def _with_tokenizer(entry: LanguageModel, folder: Path) -> LanguageModel:
    path = str(folder / expanded(entry.tokenizer)) if entry.tokenizer else None
    return entry.model_copy(update={"tokenizer": path})


def _with_model(entry: AnyDeduper, folder: Path) -> AnyDeduper:
    if not isinstance(entry, Semantic) or not is_folder(entry.model):
        return entry
    return entry.model_copy(update={"model": str(folder / expanded(entry.model))})


def _with_files(entry: Attributes, folder: Path) -> Attributes:
    options = {name: _resolved(options, folder) for name, options in entry.options.items()}
    return entry.model_copy(update={"options": options})


def _resolved(options: TaggerOptions, folder: Path) -> TaggerOptions:
    paths = {name: [str(folder / expanded(path)) for path in given] for name, given in options.given().items()}
    files = {name: found if name == "lists" else found[0] for name, found in paths.items()}
    endpoint = options.endpoint
    if endpoint and endpoint.answers:
        endpoint = endpoint.model_copy(update={"answers": str(folder / expanded(endpoint.answers))})
    return options.model_copy(update={**files, "endpoint": endpoint})


def _weights(dataset: Section, folder: Path) -> dict[str, Any]:
    """Returns the weights of a dataset with the path of their file resolved, if they name one."""
    weights = getattr(dataset, "weights", None)
    if weights is None or weights.file is None:
        return {}
    key, path = weights.file
    return {"weights": weights.model_copy(update={key: str(folder / expanded(path))})}


def _absolute(section: S, folder: Path) -> S:
    """Returns a section with its paths resolved; anything else as it is."""
    if not isinstance(section, Section):
        return section
    found = {name: getattr(section, name, None) for name in _PATHS}
    paths = {
        name: value
        for name, value in found.items()
        if value and not (name == "chat_template" and template_in_place(value))
    }
    return section.model_copy(update={name: below(folder, value) for name, value in paths.items()})
