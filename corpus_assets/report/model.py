"""The model of a report: every number in it that follows from content.

It is stored as `report.json`. The same content gives the same bytes. `version` is raised when a field changes its
meaning or is removed, but not when fields are added. Programs that compare two reports read the fields that they know,
and treat absent ones as not counted (None).
"""

from typing import Any

import msgspec

VERSION = 1

BySource = dict[str, dict[str, int]]
"""For each source `documents`, and where they are counted `text_bytes`, `tokens`, `loss_tokens`."""


class Source(msgspec.Struct):
    """A source as it is configured, or a dataset's own files, and its raw files.

    dataset: the dataset that the files belong to; None for a source of the corpus.
    files: raw files, of which each is a partition; listed: files besides, which lists of texts among them name.
    raw_bytes: as they are stored.
    licences: documents kept and their bytes by licence, as documents or the source state it; None if not counted.
    """

    name: str
    licence: str | None
    location: str
    dataset: str | None = None
    epochs: float | None = None
    files: int = 0
    listed: int = 0
    raw_bytes: int = 0
    licences: dict[str, dict[str, int]] | None = None


class Loss(msgspec.Struct):
    """Documents that a step leaves out for one reason. by_source: None if it was not counted."""

    reason: str
    documents: int
    by_source: dict[str, int] | None = None


class Step(msgspec.Struct):
    """The documents left after a step from raw rows to training documents, and the losses of the step.

    text_bytes: of UTF-8 text; None where it is not known.
    by_source: None if the records do not have it.
    examples: some of what was lost, in words.
    gained: further uses of documents, by `epochs`.
    """

    name: str
    asset: str
    documents: int
    text_bytes: int | None
    by_source: BySource | None
    losses: list[Loss] = []
    examples: list[str] = []
    gained: int = 0


class Split(msgspec.Struct):
    """The documents of a split."""

    name: str
    documents: int
    text_bytes: int
    by_source: BySource | None


class Mixed(msgspec.Struct):
    """How a dataset with weights uses a source or unit: existing, requested and reached tokens; requested share.

    documents: of a unit, existing, requested and reached ones.
    """

    available: int
    target: int
    reached: int
    epochs: float
    asked: float | None = None
    documents: tuple[int, int, int] | msgspec.UnsetType = msgspec.UNSET


class Dataset(msgspec.Struct):
    """A dataset. rows: of HDF5 files, else windows or documents. slots: token positions of all rows.

    by_source: documents and tokens without separators.
    slots, non_pad_tokens: None where rows are not filled, such as windows.
    sequences_per_row: documents, or pieces of them, of a row; None where they do not share rows.
    packing: what each way to pack the same documents would give.
    discarded: documents or rows by reason.
    """

    name: str
    format: str
    input: str
    sequence_length: int | None
    rows: int
    tokens: int
    documents: int | None = None
    loss_tokens: int | None = None
    slots: int | None = None
    non_pad_tokens: int | None = None
    by_source: BySource | None = None
    sequences_per_row: float | None = None
    mixture: dict[str, Mixed] = {}
    packing: list[dict[str, Any]] = []
    discarded: dict[str, int] = {}
    dropped_tokens: dict[str, int] = {}
    lengths: list[int] | None = None


class Text(msgspec.Struct):
    """The beginning of a text, in pieces of which some are marked.

    pieces: (text, mark) in order; mark is `same`, `only here`, `found` or empty. bytes: of the whole text.
    """

    source: str
    id: str
    pieces: list[tuple[str, str]]
    bytes: int
    cut: bool = False


class Cluster(msgspec.Struct):
    """Near-duplicates: the kept document, and some of the removed ones. size: number of all of them."""

    size: int
    kept: Text
    removed: list[Text]
    chosen: str = "at random"


class Duplicates(msgspec.Struct):
    """Near-duplicates of the whole corpus. sources: documents that took part, and those removed.

    sizes: number of clusters by their size.
    pairs: for each source of removed documents, how many were removed for one of each source.
    pairs_left_out: documents in pairs of sources beyond those listed.
    exact: those removed of each source whose very text another document has; None if it was not counted.
    contained: those removed of each source, with another text, that stand in the one kept; None if none was looked for.
    shares: the latter of all sources by the share of their shingles that the kept one has, in whole per cent.
    by_template: sentences about sources that lose mainly to a template. templates: shingles that were left out, by
    source; None if none were looked for.
    """

    clusters: int
    removed: int
    largest: int
    sources: dict[str, dict[str, int]]
    sizes: dict[str, int] | None = None
    pairs: dict[str, dict[str, int]] | None = None
    pairs_left_out: int = 0
    exact: dict[str, int] | None = None
    contained: dict[str, int] | None = None
    shares: dict[str, int] = {}
    by_template: list[str] = []
    templates: dict[str, int] | None = None
    guard: dict[str, int] = {}
    samples: list[Cluster] = []


class Boilerplate(msgspec.Struct):
    """A piece that stands in many documents: their number, its length in units, its first place, and how it begins."""

    documents: int
    length: int
    id: str
    text: str
    source: str


class Substrings(msgspec.Struct):
    """What an entry of `dedupers` with `kind: substrings` marked: numbers by source, and the most frequent pieces.

    boilerplate: number of documents above which pieces are boilerplate; None if none was looked for.
    """

    name: str
    min_length: str
    boilerplate: int | None
    sources: dict[str, dict[str, int]]
    listed: list[Boilerplate] = []


class Semantic(msgspec.Struct):
    """What an entry of `dedupers` with `kind: semantic` marked: numbers by source, and documents by cosine.

    scores: marked documents by the lower end of twentieths.
    """

    name: str
    threshold: float
    sources: dict[str, dict[str, int]]
    scores: dict[str, int] = {}


class Benchmark(msgspec.Struct):
    """The findings for a benchmark: numbers of items and documents, and the texts of some that hold items."""

    name: str
    numbers: dict[str, int]
    worst: list[dict[str, Any]] = []
    texts: list[Text] = []


class Measure(msgspec.Struct):
    """The values of a tagger: number of documents by value; `cuts` are ends of the ranges that the filter keeps.

    edges: one more than counts. none: documents without a value.
    """

    asset: str
    key: str
    edges: list[float]
    counts: list[int]
    none: int
    cuts: dict[str, float] = {}


class Place(msgspec.Struct):
    """A domain, host or suffix, or a year, and what documents of train are from it. tokens: None if not counted."""

    name: str
    documents: int
    text_bytes: int
    tokens: int | None


class Origin(msgspec.Struct):
    """Where the documents of a source are from, each counted once. domains, hosts, suffixes: the largest.

    different: how many domains, hosts and suffixes there are. without_url: documents that name none. years: of all.
    """

    source: str
    documents: int
    without_url: int
    different: dict[str, int]
    domains: list[Place]
    hosts: list[Place]
    suffixes: list[Place]
    years: list[Place]


class Classifier(msgspec.Struct):
    """A learned filter. examples: of each class, by part. figures: on the part that was held out."""

    name: str
    kind: str
    examples: dict[str, dict[str, int]]
    figures: dict[str, Any]


class LanguageModel(msgspec.Struct):
    """A language model. words: different ones; tokens: those that it is trained on, with an end for each line.

    ngrams, pruned: by length, n-grams that it has, and those that are left out because they are rare.
    """

    name: str
    words: int
    tokens: int
    ngrams: dict[str, int]
    pruned: dict[str, int]


class LanguageScores(msgspec.Struct):
    """The values of taggers over the documents of a source that have one language."""

    source: str
    language: str
    documents: int
    measures: list[Measure]


class Stage(msgspec.Struct):
    """An asset: version of its algorithm, number of partitions, and the digest of all their contents."""

    code_version: str
    partitions: int
    digest: str


class Model(msgspec.Struct):
    """A report. configuration: corpus.yaml with all defaults, without values that depend on the machine.

    origins, languages, substrings, semantic, classifiers, language_models: unset if they are not configured.
    """

    version: int
    name: str
    sources: list[Source]
    steps: list[Step]
    splits: list[Split]
    datasets: list[Dataset]
    lengths: dict[str, list[int]]
    duplicates: Duplicates | None
    benchmarks: list[Benchmark]
    measures: list[Measure]
    measures_left_out: int
    configuration: dict[str, Any]
    stages: dict[str, Stage]
    substrings: list[Substrings] | msgspec.UnsetType = msgspec.UNSET
    semantic: list[Semantic] | msgspec.UnsetType = msgspec.UNSET
    origins: list[Origin] | msgspec.UnsetType = msgspec.UNSET
    classifiers: list[Classifier] | msgspec.UnsetType = msgspec.UNSET
    language_models: list[LanguageModel] | msgspec.UnsetType = msgspec.UNSET
    languages: list[LanguageScores] | msgspec.UnsetType = msgspec.UNSET


def encode(model: Model) -> bytes:
    """Returns the model as JSON with sorted keys."""
    return msgspec.json.format(msgspec.json.encode(model, order="sorted"), indent=1) + b"\n"


def decode(content: bytes | str) -> Model:
    """Returns the model of a `report.json`; `msgspec.DecodeError` if it is none."""
    return msgspec.json.decode(content, type=Model)
