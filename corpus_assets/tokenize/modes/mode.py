"""A mode: one object with its section of the configuration, its layout, and the functions that make rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import DatasetSection
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.ragged import Ids, Ragged
from corpus_assets.tokenize.rows.layouts import Layout
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.formats.examples import Example


class IdentifiedText(NamedTuple):
    """Identity and text of a document, its place in a file of the dataset's own (see `Example`), and its source."""

    identity: str
    text: str
    part: int = 0
    skipped: int = 0
    source: str = ""


def texts_of(documents: Iterable[IdentifiedText], statistics: Statistics) -> Iterator[str]:
    """Yields the texts of documents; says in `statistics` which each is when it is read."""
    for document in documents:
        statistics.sources.read(document.source)
        statistics.reading = document.identity
        yield document.text


class MaskedBatch(NamedTuple):
    """Documents before they are packed or padded.

    tokens, masks: ids, and 1 at i where id i + 1 is learned, else 0; the last of each document is ignored.
    items: int64 (documents,), never falling: of which of the texts or examples that were read each is made.
    """

    tokens: Ragged
    masks: Ragged
    items: NDArray[np.int64]


OnFault = Callable[[Example, str], None]
SectionT = TypeVar("SectionT", bound=DatasetSection)
ItemT = TypeVar("ItemT", IdentifiedText, Example)


@dataclass(frozen=True)
class Tools:
    """Everything that rows are made with, besides the options of the dataset.

    statistics: counts texts and ids. template: a chat template instead of the tokenizer's own. on_fault: is told of
    unusable examples, and why.
    """

    tokenizer: Tokenizer
    statistics: Statistics
    template: str | None = None
    on_fault: OnFault | None = None


@dataclass(frozen=True)
class Mode(Generic[SectionT, ItemT]):
    """How the rows of some datasets are made.

    section: the options it takes; it makes the rows of datasets with such a section for which `chosen_by` is True.
    words: how descriptions of its files begin.
    layout: of its rows.
    rows: makes int32 blocks (rows, channels, L) of documents or examples, in order.
    reasons: all for which it may discard a document or example.
    name: for files and trainers; None: the mode's name in Cerebras' Model Zoo.
    control: the tokens that are control tokens for a dataset whatever its tokenizer says; it takes the section, the
        tokenizer and the chat template.
    check: raises ConfigError for a section, a tokenizer and a chat template that make no rows to learn from.
    rows_over_files: yields the blocks of each of several streams of documents, to be used up one after another; what
        fills no row goes on to the next stream. None: nothing does.
    masked: yields the documents with their loss masks, of which rows could be made; it takes the most ids of one
        beside what `rows` takes, and keeps to it as rows do. None: there is no such mask, or no such document.
    rows_of_ids: the same of documents whose ids are known; None for a mode that needs texts.
    """

    section: type[SectionT]
    words: str
    layout: Layout
    rows: Callable[[SectionT, Iterable[ItemT], Tools], Iterator[Ids]]
    reasons: tuple[str, ...] = ()
    chosen_by: Callable[[SectionT], bool] = lambda _: True
    name: str | None = None
    control: Callable[[SectionT, Tokenizer, str | None], Collection[str]] = lambda *_: ()
    check: Callable[[SectionT, Tokenizer, str | None], object] = lambda *_: None
    rows_over_files: Callable[[SectionT, Sequence[Iterable[ItemT]], Tools], Iterator[Iterator[Ids]]] | None = None
    masked: Callable[[SectionT, Iterable[ItemT], Tools, int], Iterator[MaskedBatch]] | None = None
    rows_of_ids: Callable[[SectionT, Iterable[Iterable[Ragged]], Tools], Iterator[Iterator[Ids]]] | None = None

    @property
    def cerebras_name(self) -> str:
        """Returns the name of the mode in files: Cerebras', or one of that kind for a mode that it does not have."""
        return self.name or self.section.cerebras_name or ""

    @property
    def takes_texts(self) -> bool:
        """True for a mode that makes rows of texts with an identity, False for one that takes examples."""
        return self.section.shape == "text"

    @property
    def measures_documents(self) -> bool:
        """True if it counts documents by length (`Statistics.document_lengths`), False for preferences."""
        return not self.layout.two_sided

    def makes(self, section: DatasetSection) -> bool:
        """True if this mode makes the rows of a dataset with this section."""
        return isinstance(section, self.section) and self.chosen_by(section)
