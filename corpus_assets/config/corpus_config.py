"""The schema of `corpus.yaml`. It refuses unknown keys, wrong types and impossible combinations."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, model_validator

from corpus_assets.config.card import Card
from corpus_assets.config.datasets.dataset import Dataset, default_datasets
from corpus_assets.config.datasets.exports import mix_problems
from corpus_assets.config.datasets.masked_modes import MixedDataset, part_problems
from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.naming import MODULE
from corpus_assets.config.notices import Notice
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.section import Name, Section
from corpus_assets.config.sections import EngineSection, Normalize, ShortDocuments, Source, Split
from corpus_assets.config.selection.attribute_files import AttributeEntry, AttributeFiles
from corpus_assets.config.selection.contamination import Benchmark, Contamination, OnContamination
from corpus_assets.config.selection.dedup import Dedup, MinHash
from corpus_assets.config.selection.dedupers import AnyDeduper, Deduper
from corpus_assets.config.selection.filter import Filter
from corpus_assets.config.selection.learned.classifiers import Classifier
from corpus_assets.config.selection.learned.language_models import LanguageModel
from corpus_assets.config.selection.licences import Licences
from corpus_assets.config.selection.mixing import Mix
from corpus_assets.config.selection.origins import Origins
from corpus_assets.config.selection.presets import written_out
from corpus_assets.config.selection.sampling import Sample
from corpus_assets.config.selection.streams import Stream
from corpus_assets.config.selection.takedown import Remove
from corpus_assets.config.storage import StorageSection
from corpus_assets.config.tokenizers import Tokenizer, TrainedTokenizer, Vocabulary
from resources.storage.unnamed import UNNAMED


class CorpusConfig(Section):
    """Everything a corpus is made from."""

    name: Name = Field(UNNAMED, description="name of the corpus; must be unique in an object store")
    compat: Literal["slimpajama"] | None = Field(
        None, description="profile that reproduces a reference; it sets the values listed below"
    )
    sources: list[Source] = Field(
        default=[],
        description="the order decides which of equal documents is kept: the earliest; none if every dataset "
        "reads files of its own",
    )
    sample: Sample | None = Field(
        None, description="build the corpus from a part of the raw rows only; `corpus build --sample` writes this"
    )
    remove: Remove | None = Field(None, description="documents that must not be in any output; by default none")
    normalize: Normalize = Normalize()
    short_documents: ShortDocuments = ShortDocuments()
    search_index: bool = Field(
        False,
        description="write an index of all texts, an eighth of their size, with which the viewer and programs find a "
        "phrase without reading them (docs/viewer.md)",
    )
    attributes: list[AttributeEntry] = Field(
        default=[], description="taggers to run over every document, and attributes that somebody else made"
    )
    taggers: Annotated[list[str], MODULE] = Field(
        default=[], description="modules with taggers of your own (docs/attributes.md)"
    )
    classifiers: list[Classifier] = Field(
        default=[], description="filters that are learned from examples (docs/learned-filters.md)"
    )
    language_models: list[LanguageModel] = Field(
        default=[], description="language models that are trained on sources (docs/perplexity.md)"
    )
    benchmarks: list[Benchmark] = Field(
        default=[], description="evaluation files to look for in every document (docs/contamination.md)"
    )
    contamination: Contamination = Contamination()
    on_contamination: OnContamination = Field(
        "report",
        description="`report`: only report; or remove documents that hold `contamination.share` of an item, or "
        "the spans of such items, before anything else is made from the corpus",
    )
    dedupers: list[AnyDeduper] = Field(
        default=[],
        description="repeated documents, paragraphs, n-grams or substrings, or documents that mean the same, to mark "
        "(docs/dedupers.md)",
    )
    filter: Filter | None = Field(None, description="which documents and which parts of them stay (docs/filter.md)")
    licences: Licences = Licences()
    card: Card | None = Field(
        None, description="facts about the corpus that only people can state; with it, papers are written"
    )
    origins: Origins | None = Field(
        None, description="count the domains, hosts and years of the documents to train on; by default not"
    )
    streams: list[Stream] = Field(
        default=[],
        description="documents with attributes, with filters of their own, as the mixer of Dolma writes them",
    )
    minhash: MinHash = MinHash()
    dedup: Dedup = Dedup()
    mix: Mix = Mix()
    split: Split = Split()
    tokenizer: Tokenizer = Field(
        TrainedTokenizer(), description="tokenizer of all datasets without their own; by default `kind: train`"
    )
    datasets: list[Dataset] = Field(
        default_factory=default_datasets,
        description="by default `train` (of decontaminated_train), `validation` and `test`, each with `mode: lm` and "
        "nothing else set",
    )
    stages: Annotated[list[str], MODULE] = Field(
        default_factory=list, description="modules with stages of your own (docs/own-stage.md)"
    )
    own: dict[Name, dict[str, JsonValue]] = Field(
        default={}, description="sections for stages of your own, which read `own.SECTION.KEY` as a parameter"
    )
    notices: list[Notice] = Field(
        default=[], description="commands and web addresses that are told how a build ended (docs/notices.md)"
    )
    engine: EngineSection = EngineSection()
    storage: StorageSection = StorageSection()

    @model_validator(mode="before")
    @classmethod
    def _presets_written_out(cls, values: Any) -> Any:
        return written_out(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _has_a_name_in_a_bucket(self) -> "CorpusConfig":
        if self.storage.kind == "s3" and self.name == UNNAMED:
            raise ValueError(
                f"name: received {self.name!r}, the default; valid in an object store: another name, which no other "
                "corpus in it has, since it knows a corpus by nothing else"
            )
        return self

    @model_validator(mode="after")
    def _unique_names(self) -> "CorpusConfig":
        for what, names in (
            ("sources", [s.name for s in self.sources]),
            ("datasets", [d.name for d in self.datasets]),
            ("streams", [s.name for s in self.streams]),
            ("benchmarks", [b.name for b in self.benchmarks]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what}: {', '.join(map(repr, twice))} named twice; names must differ")
        if both := sorted(
            {s.name for s in self.sources} & {d.name for d in self.datasets if isinstance(d.input, OwnFiles)}
        ):
            raise ValueError(f"datasets: {both[0]!r} reads files of its own and is named like a source; rename one")
        folded: dict[str, str] = {}
        for name in (dataset.name for dataset in self.datasets):
            if (other := folded.setdefault(re.sub("[-.]", "_", name), name)) != name:
                raise ValueError(f"datasets: {other!r} and {name!r} differ by '-', '.' and '_' only; rename one")
        return self

    @model_validator(mode="after")
    def _mixes_of_known_datasets(self) -> "CorpusConfig":
        for problem in (*mix_problems(self.datasets), *part_problems(self.datasets)):
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _no_raw_rows_of_a_part(self) -> "CorpusConfig":
        raw = [stream.name for stream in self.streams if stream.compat == "dolma"]
        if self.remove and raw:
            raise ValueError(
                f"streams: {raw[0]!r} has `compat: dolma`, so it holds all rows of the raw files, those that `remove` "
                "names too; leave out one of the two"
            )
        if self.sample and raw:
            raise ValueError(
                f"streams: {raw[0]!r} has `compat: dolma`, so it holds all rows of the raw files, and cannot be sampled"
            )
        return self

    @model_validator(mode="after")
    def _unlike_attributes(self) -> "CorpusConfig":
        known: dict[str, str] = {}
        named = [("attributes", entry.prefix, entry.name) for entry in self.attributes]
        for section, prefix, name in [*named, *(("dedupers", entry.prefix, entry.name) for entry in self.dedupers)]:
            if other := known.get(prefix):
                raise ValueError(f"{section}: {other!r} and {name!r} have the same keys; names must differ")
            known[prefix] = name
            if not self.sources:
                raise ValueError(f"{section}: there are no sources whose documents they could describe; give a source")
        return self

    @model_validator(mode="after")
    def _beside_known_sources(self) -> "CorpusConfig":
        names = [source.name for source in self.sources]
        for place, entry in enumerate(self.attributes):
            named = (entry.of_sources() if isinstance(entry, AttributeFiles) else None) or []
            if unknown := sorted(set(named) - set(names)):
                raise ValueError(f"attributes.{place}: no source named {unknown[0]!r}; valid: {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _against_known_sources(self) -> "CorpusConfig":
        names = [source.name for source in self.sources]
        for place, entry in enumerate(self.dedupers):
            against = entry.against if isinstance(entry, Deduper) else None
            for key, given in (("against", against), ("sources", entry.sources)):
                if unknown := sorted(set(given or ()) - set(names)):
                    raise ValueError(
                        f"dedupers.{place}.{key}: no source named {unknown[0]!r}; valid: {', '.join(names) or 'none'}"
                    )
        return self

    @model_validator(mode="after")
    def _examples_of_known_sources(self) -> "CorpusConfig":
        names, known = [source.name for source in self.sources], dict[str, str]()
        for place, entry in enumerate(self.classifiers):
            if not names:
                raise ValueError("classifiers: there are no sources whose documents they could judge; give a source")
            if other := known.get(entry.prefix):
                raise ValueError(f"classifiers: {other!r} and {entry.name!r} have the same keys; names must differ")
            known[entry.prefix] = entry.name
            for label, examples in entry.classes.items():
                for number, one in enumerate(examples):
                    if one.source is not None and one.source not in names:
                        raise ValueError(
                            f"classifiers.{place}.{label}.{number}: no source named {one.source!r}; valid: "
                            f"{', '.join(names)}, or a path with a `/`, or that ends in .jsonl"
                        )
        return self

    @model_validator(mode="after")
    def _models_of_known_sources(self) -> "CorpusConfig":
        names, known = [source.name for source in self.sources], dict[str, str]()
        for place, entry in enumerate(self.language_models):
            if other := known.get(entry.prefix):
                raise ValueError(f"language_models: {other!r} and {entry.name!r} have the same keys; names must differ")
            known[entry.prefix] = entry.name
            for number, source in enumerate(entry.sources):
                if source not in names:
                    raise ValueError(
                        f"language_models.{place}.sources.{number}: no source named {source!r}; valid: "
                        f"{', '.join(names) or 'none'}"
                    )
        return self

    @model_validator(mode="after")
    def _filters_fit_memory(self) -> "CorpusConfig":
        for place, entry in enumerate(self.dedupers):
            if isinstance(entry, Deduper) and entry.bloom and entry.bloom.bytes > self.engine.memory:
                raise ValueError(
                    f"dedupers.{place}.bloom: the filter has {entry.bloom.bytes:,} bytes, which is over engine.memory "
                    f"({self.engine.memory:,}); valid: fewer items, a larger error, or no filter"
                )
        return self

    @model_validator(mode="after")
    def _unlike_benchmarks(self) -> "CorpusConfig":
        others = {d.name: "dataset" for d in self.datasets} | {s.name: "source" for s in self.sources}
        known: dict[str, str] = {}
        for entry in self.benchmarks:
            if entry.name in others:
                raise ValueError(f"benchmarks: {entry.name!r} is named like a {others[entry.name]}; rename one")
            if (other := known.setdefault(entry.key_part, entry.name)) is not entry.name:
                raise ValueError(f"benchmarks: {other!r} and {entry.name!r} have the same keys; names must differ")
        if self.benchmarks and not self.sources:
            raise ValueError("benchmarks: there are no sources that could hold their items; give a source")
        prefixes = {entry.prefix for entry in self.attributes} | {entry.prefix for entry in self.dedupers}
        if self.benchmarks and "contamination" in prefixes:
            raise ValueError("benchmarks: what is found is named 'contamination'; rename the entry of that name")
        if self.on_contamination != "report" and not self.benchmarks:
            raise ValueError(f"on_contamination: received {self.on_contamination!r}, but there are no benchmarks")
        return self

    @model_validator(mode="after")
    def _something_to_filter(self) -> "CorpusConfig":
        if self.filter and not self.sources:
            raise ValueError("filter: there are no sources whose documents it could filter; give a source")
        names = [source.name for source in self.sources]
        for place, stream in enumerate(self.streams):
            if not names or (unknown := sorted(set(stream.sources or ()) - set(names))):
                what = repr(unknown[0]) if names else "any"
                raise ValueError(
                    f"streams.{place}.sources: no source named {what}; valid: {', '.join(names) or 'none'}"
                )
        return self

    @model_validator(mode="after")
    def _something_to_count(self) -> "CorpusConfig":
        if self.origins and not self.sources:
            raise ValueError("origins: there are no sources whose documents could be counted; give a source")
        return self

    @model_validator(mode="after")
    def _known_weights(self) -> "CorpusConfig":
        names, before = [source.name for source in self.sources], list[str]()
        by_source = self.mix.units == "source"
        for place, dataset in enumerate(self.datasets):
            weights = getattr(dataset, "weights", None)
            if weights is None or not isinstance(dataset.input, str) or isinstance(dataset, MixedDataset):
                continue
            if weights.after not in (None, *before):
                valid = f"a dataset with weights that stands before: {', '.join(before) or 'none'}"
                raise ValueError(f"datasets.{place}.weights.after: received {weights.after!r}; valid: {valid}")
            before.append(dataset.name)
            unknown = sorted({name for name, share in weights.given().items() if share} - set(names))
            if by_source and unknown:
                raise ValueError(
                    f"datasets.{place}.weights: no source named {unknown[0]!r}; valid: {', '.join(names) or 'none'}"
                )
        return self

    @model_validator(mode="after")
    def _known_names(self) -> "CorpusConfig":
        own = [dataset.name for dataset in self.datasets if isinstance(dataset.input, OwnFiles)]
        names = [*(source.name for source in self.sources), *own]
        for key, given in (
            ("card.sources", self.card.sources if self.card else {}),
            ("sample.shares", self.sample.shares if self.sample else {}),
        ):
            if unknown := sorted(set(given) - set(names)):
                raise ValueError(
                    f"{key}: no source or dataset with files of its own is named {unknown[0]!r}; valid: "
                    f"{', '.join(names) or 'none'}"
                )
        return self

    @model_validator(mode="after")
    def _something_to_read(self) -> "CorpusConfig":
        if self.sources:
            return self
        if reads := [d.name for d in self.datasets if _reads_a_split(d)]:
            raise ValueError(
                f"sources: none given, but dataset {reads[0]!r} reads a split of the corpus; give a source"
            )
        chosen = [d.tokenizer or self.tokenizer for d in self.datasets if not isinstance(d, TextExport)]
        if not self.datasets or any(isinstance(tokenizer, TrainedTokenizer) for tokenizer in chosen):
            raise ValueError(
                "sources: none given, so there is nothing to train a tokenizer on; give a source or another kind"
            )
        return self

    @model_validator(mode="after")
    def _ids_without_texts(self) -> "CorpusConfig":
        ids = [dataset for dataset in self.datasets if isinstance(dataset.input, TokenFiles)]
        if ids and self.remove:
            raise ValueError(
                f"datasets: {ids[0].name!r} reads files of ids, in which nobody can find what `remove` names; leave "
                "out one of the two"
            )
        for dataset in self.datasets:
            chosen = dataset.tokenizer or self.tokenizer
            untokenized = isinstance(dataset, TextExport) and dataset.weights is None
            if isinstance(chosen, Vocabulary) and not (untokenized or isinstance(dataset.input, TokenFiles | list)):
                raise ValueError(f"datasets: {dataset.name!r} needs a tokenizer of texts, and received `kind: ids`")
        return self

    @model_validator(mode="after")
    def _something_to_mix(self) -> "CorpusConfig":
        if self.sources and not any(source.epochs or source.may_be_empty for source in self.sources):
            raise ValueError(
                "sources: every source has epochs 0, so the corpus would be empty; give one another number, or "
                "`may_be_empty: true`"
            )
        return self

    @model_validator(mode="after")
    def _templates_of_oph(self) -> "CorpusConfig":
        if self.dedup.template_share is not None and self.minhash.family != "oph":
            raise ValueError(
                f"dedup.template_share: signatures of minhash.family {self.minhash.family!r} leave no shingles out; "
                "valid for it: oph"
            )
        return self

    @model_validator(mode="after")
    def _known_priorities(self) -> "CorpusConfig":
        names = [source.name for source in self.sources]
        if unknown := [name for name in self.dedup.priority if name not in names]:
            raise ValueError(f"dedup.priority: no source named {unknown[0]!r}; valid: {', '.join(names)}")
        if len(set(self.dedup.priority)) < len(self.dedup.priority):
            raise ValueError("dedup.priority: a source is named twice")
        return self

    @model_validator(mode="after")
    def _one_holdout_for_compat(self) -> "CorpusConfig":
        own = [f"sources.{place}.holdout" for place, source in enumerate(self.sources) if source.holdout is not None]
        if self.split.method == "slimpajama" and own:
            raise ValueError(f"{', '.join(own)}: split.method slimpajama takes no holdout per source; leave it out")
        return self


def _reads_a_split(dataset: Dataset) -> bool:
    if isinstance(dataset, MixedDataset):
        return any(part.input is not None for part in dataset.parts.values())
    return isinstance(dataset.input, str)
