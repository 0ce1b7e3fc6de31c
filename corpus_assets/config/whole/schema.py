"""The schema of `corpus.yaml`. It refuses unknown keys, wrong types and impossible combinations."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from corpus_assets.config.card import Card
from corpus_assets.config.datasets.dataset import Dataset, default_datasets
from corpus_assets.config.naming import MODULE
from corpus_assets.config.notices import Notice
from corpus_assets.config.section import Name, Section
from corpus_assets.config.sections import EngineSection, Normalize, ShortDocuments, Source, Split
from corpus_assets.config.selection.attribute_files import AttributeEntry
from corpus_assets.config.selection.contamination import Benchmark, Contamination, OnContamination
from corpus_assets.config.selection.dedup import Dedup, MinHash
from corpus_assets.config.selection.dedupers import AnyDeduper
from corpus_assets.config.selection.filter import Filter
from corpus_assets.config.selection.learned.classifiers import Classifier
from corpus_assets.config.selection.learned.language_models import LanguageModel
from corpus_assets.config.selection.licences import Licences
from corpus_assets.config.selection.mixing import Mix
from corpus_assets.config.selection.origins import Origins
from corpus_assets.config.selection.sampling import Sample
from corpus_assets.config.selection.streams import Stream
from corpus_assets.config.selection.takedown import Remove
from corpus_assets.config.storage import StorageSection
from corpus_assets.config.tokenizers import Tokenizer, TrainedTokenizer
from resources.storage.unnamed import UNNAMED


class Schema(Section):
    """Everything a corpus is made from; `CorpusConfig` checks that its sections go together."""

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
