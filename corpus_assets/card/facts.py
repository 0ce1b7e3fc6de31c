"""The facts for all papers of a corpus: numbers of the graph, and the section `card`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

UNWRITTEN = "[to be written by a person: {}]"


@dataclass(frozen=True)
class SourceFacts:
    """One source: how much of it is in the corpus. tokens: of train. licences: bytes of text by licence, most first.

    domains: those that its documents of train are from; None if they are not counted.
    """

    name: str
    documents: int
    text_bytes: int
    tokens: int | None
    licences: Mapping[str, int]
    domains: "Domains | None" = None


@dataclass(frozen=True)
class Domains:
    """The domains of a source. largest: the share of the source of each, most first; of its text, or of its tokens.

    different: how many there are. without_url: share of documents that name none.
    """

    largest: Mapping[str, float]
    different: int
    without_url: float
    measure: str


@dataclass(frozen=True)
class FileFacts:
    """One set of files below the root of the corpus.

    kind: `documents` (JSON lines), or the format of a token dataset.
    split: `train`, `validation`, `test` or empty.
    pattern: of its files.
    """

    name: str
    kind: str
    split: str
    pattern: str
    files: int
    rows: int
    tokens: int | None = None


@dataclass(frozen=True)
class Facts:
    """A corpus as its graph knows it.

    steps: what was done to the texts, in order, a sentence each.
    tokenizer: in words.
    versions: of the programs.
    card: the section `card` with its defaults.
    digest: of the content.
    """

    name: str
    digest: str
    sources: Sequence[SourceFacts]
    files: Sequence[FileFacts]
    steps: Sequence[str]
    tokenizer: str
    versions: Mapping[str, str]
    card: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The title that people gave, or the name."""
        return str(self.card["title"] or self.name)

    @property
    def documents(self) -> int:
        """Documents of all sources in the corpus."""
        return sum(source.documents for source in self.sources)

    @property
    def text_bytes(self) -> int:
        """Bytes of text of all sources in the corpus."""
        return sum(source.text_bytes for source in self.sources)

    @property
    def tokens(self) -> int | None:
        """Tokens of all sources for which they are counted; None if they are for none."""
        counts = [source.tokens for source in self.sources if source.tokens is not None]
        return sum(counts) if counts else None

    @property
    def licences(self) -> dict[str, int]:
        """Bytes of text by licence over all sources, most first."""
        found: dict[str, int] = {}
        for source in self.sources:
            for name, size in source.licences.items():
                found[name] = found.get(name, 0) + size
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def of_source(self, name: str) -> Mapping[str, Any]:
        """Returns the facts that people stated about a source."""
        return self.card["sources"].get(name) or {}


@dataclass
class Written:
    """Texts of the section `card`; it keeps which of them are missing.

    said = Written(facts.card)
    said("uses", "what the corpus is meant for")
    """

    card: Mapping[str, Any]
    missing: dict[str, str] = field(default_factory=dict)

    def __call__(self, key: str, what: str) -> str:
        """Returns the text under a key, or a mark that a person must write it. what: in words."""
        value = self.card.get(key)
        if value:
            return str(value)
        return self.lacks(key, what)

    def lacks(self, key: str, what: str) -> str:
        """Notes that a value is missing, and returns the mark that stands in its place."""
        self.missing[f"card.{key}"] = what
        return UNWRITTEN.format(what)
