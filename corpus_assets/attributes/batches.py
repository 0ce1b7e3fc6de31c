"""Taggers over many documents at once. Rows come out one for each document, in order, whatever the size of batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpus_assets.attributes.tagging import Named, TaggerError, attributes_of, keyed
from resources.documents.batch_tagger import Batch
from resources.endpoint.asking import Unanswered
from resources.errors import BadFileError, CorpusError
from resources.formats.attributes import Span
from resources.formats.documents import Document

MOST_CHARACTERS = 1 << 24
"""Code points of the texts that are held at a time."""

Found = dict[str, Sequence[Span]]


@dataclass
class Together:
    """A loaded batch tagger, and the first part of its attribute keys, `<entry>__<tagger>__`.

    unanswered: documents without a row, by reason.
    """

    name: str
    prefix: str
    batch: Batch
    size: int
    digits: int
    unanswered: dict[str, int] = field(default_factory=dict)
    _compared: bool = False

    def rows(self, texts: Sequence[str]) -> list[Found]:
        """Returns the spans of each text by attribute key; `TaggerError` names the tagger that failed."""
        found: list[Found] = []
        for start in range(0, len(texts), self.size):
            found += self._batch(texts[start : start + self.size])
        return found

    def _batch(self, texts: Sequence[str]) -> list[Found]:
        found = self._asked(texts)
        if len(texts) > 1 and not self._compared:
            self._compared = True
            self._require_alone(texts[0], found[0])
        for row in found:
            if isinstance(row, Unanswered):
                self.unanswered[row.reason] = self.unanswered.get(row.reason, 0) + 1
        return [{} if isinstance(row, Unanswered) else row for row in found]

    def _asked(self, texts: Sequence[str]) -> list[Found | Unanswered]:
        try:
            rows = list(self.batch(texts))
            if len(rows) != len(texts):
                raise TaggerError(f"gave {len(rows)} rows for {len(texts)} texts; valid: one for each")
            return [
                row if isinstance(row, Unanswered) else self._keyed(row, text)
                for row, text in zip(rows, texts, strict=True)
            ]
        except CorpusError:
            raise
        except Exception as error:
            words = str(error) if isinstance(error, TaggerError) else f"{type(error).__name__}: {error}"
            raise TaggerError(f"{self.name}: {words}") from error

    def _keyed(self, row: Mapping[str, float | Sequence[Span]], text: str) -> Found:
        spans = {
            kind: [(0, len(text), value)] if not isinstance(value, Sequence) else value for kind, value in row.items()
        }
        return keyed(self.prefix, spans, self.digits)

    def _require_alone(self, text: str, beside: Found | Unanswered) -> None:
        """Raises `TaggerError` if a text has other scores when it is alone: its shard would depend on the batches."""
        (alone,) = self._asked([text])
        if isinstance(beside, Unanswered) or isinstance(alone, Unanswered):
            return
        least = 1.5 * 10**-self.digits
        same = alone.keys() == beside.keys() and all(_near(alone[key], beside[key], least) for key in alone)
        if not same:
            raise TaggerError(
                f"{self.name}: a text has other scores alone than in a batch: {dict(alone)} and {dict(beside)}; a row "
                f"must depend on its text alone, to {self.digits} digits (`BatchTagger.digits`)"
            )


def _near(ones: Sequence[Span], others: Sequence[Span], least: float) -> bool:
    return len(ones) == len(others) and all(
        one[:2] == other[:2] and abs(one[2] - other[2]) <= least for one, other in zip(ones, others, strict=True)
    )


LabelOf = Callable[[Document], str | None]
"""Returns the label of a document; called once for each, in their order."""


def unlabelled(_: Document) -> None:
    """Returns no label."""


def tagged(
    documents: Iterable[Document],
    functions: Sequence[Named],
    together: Sequence[Together],
    label: str,
    label_of: LabelOf = unlabelled,
) -> Iterator[tuple[Document, Found]]:
    """Yields each document with the spans of all taggers; `BadFileError` names file, document and tagger.

    label: of the shard.
    """
    size = max((tagger.size for tagger in together), default=1)
    for first, group in _groups(documents, size):
        found = [_of_one(one, functions, label, first + place, label_of(one)) for place, one in enumerate(group)]
        for tagger in together:
            try:
                rows = tagger.rows([document.text for document in group])
            except TaggerError as error:
                raise BadFileError(f"{label} (documents {first} to {first + len(group) - 1})", str(error)) from error
            found = [{**one, **row} for one, row in zip(found, rows, strict=True)]
        yield from zip(group, found, strict=True)


def _of_one(document: Document, functions: Sequence[Named], label: str, row: int, labelled: str | None) -> Found:
    try:
        return attributes_of(document, functions, labelled)
    except TaggerError as error:
        raise BadFileError(f"{label} (document {row}, id {document.id!r})", str(error)) from error


def _groups(documents: Iterable[Document], size: int) -> Iterator[tuple[int, list[Document]]]:
    """Yields documents in groups of up to a size, each with the row of its first; fewer of them if they are long."""
    group: list[Document] = []
    row = characters = 0
    for document in documents:
        group.append(document)
        characters += len(document.text)
        if len(group) == size or characters >= MOST_CHARACTERS:
            yield row, group
            row += len(group)
            group, characters = [], 0
    if group:
        yield row, group
