"""The attributes of one document, and the text that their spans refer to, which a filter may have changed since."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from corpus_assets.filter.assets import FILTERED, READ
from corpus_assets.tracing.kept_rows import filtered, number_before_filter
from corpus_assets.tracing.tables import IDS, TEXTS, count_of, id_at, rows_of_id
from corpus_assets.viewer.lines import decoded
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.reading import TooFarError, lines_at, lines_file
from corpus_assets.viewer.site import link
from resources.ledger.records import Record
from resources.planning.changes import really_read
from resources.stage.partition import Partition

MOST_SPANS = 2000
_LENGTHS = ".lengths.npy"
Spans = list[tuple[int, int, float]]


@dataclass(frozen=True)
class Basis:
    """The text that spans refer to. asset, key, row: of the document that has it; None where it is not known.

    length: code points of it; None if nobody counted them. differs: in words, why it is not the text that is shown;
    empty if it is.
    """

    asset: str | None = None
    key: str = ""
    row: int | None = None
    length: int | None = None
    differs: str = ""


@dataclass(frozen=True)
class Attribute:
    """One attribute of a document. spans: (beginning, end, score) in code points of the text of `basis`."""

    name: str
    asset: str
    spans: Spans
    kept: dict[str, Any] | None
    items: list[dict[str, Any]]
    basis: Basis

    @property
    def is_whole(self) -> bool:
        """Whether it consists of one span over the whole text."""
        length = self.basis.length
        return len(self.spans) == 1 and self.spans[0][0] == 0 and length is not None and self.spans[0][1] >= length

    def there(self) -> str:
        """Returns the address of the document with the text that the spans count in; empty if it is not stored."""
        if self.basis.asset is None or self.basis.row is None:
            return ""
        return link("documents", self.basis.asset, self.basis.key, row=self.basis.row, spans=self.name)


def attributes_of(view: View, record: Record, row: int, value: dict[str, Any]) -> Iterator[Attribute]:
    """Yields every attribute of a row: those it holds itself, or those of all assets that have a row for it."""
    texts = _Texts(view, record, row, value)
    if isinstance(value.get("attributes"), dict):
        yield from _attributes(record.asset, value, texts.of_own_row())
        return
    for stage in view.corpus.graph:
        if stage.partitioning is not view.corpus.graph[record.asset].partitioning or stage.name == record.asset:
            continue
        other = view.records(stage.name).get(record.partition)
        if other is None or not any(file.path.startswith("attributes/") for file in other.files):
            continue
        try:
            basis = texts.of_attribute(other)
            found = None if basis is None else _row(view, other, basis, value.get("id"))
        except TooFarError:
            yield Attribute("too far inside its file for a page", stage.name, [], None, [], Basis())
            continue
        if basis is not None and found is not None:
            yield from _attributes(stage.name, found, basis)


def documents_of(view: View, record: Record) -> tuple[str | None, bool]:
    """Returns the documents that a partition of attributes was made of, and whether they are those that are stored now.

    Inputs are followed up to the first documents: an attribute may read only the names of these, and of their texts
    what another asset found in them.
    """
    stage = view.corpus.graph.stages.get(record.asset)
    found, now = None, True
    for name, digest in record.inputs.items():
        asset, _, key = really_read(name, stage.stand_ins if stage else {}).partition("/")
        if key != record.partition or asset not in view.corpus.graph.stages:
            continue
        other = view.records(asset).get(key)
        now &= other is not None and digest in {other.digest, *other.segments.values()}
        if asset in (READ, FILTERED):
            found = found or asset
        elif other is not None:
            further, same = documents_of(view, other)
            found, now = found or further, now and (same or further is None)
    return found, now


class _Texts:
    """Finds the texts that the attributes of one document refer to."""

    def __init__(self, view: View, record: Record, row: int, value: dict[str, Any]) -> None:
        self._view, self._record, self._row = view, record, row
        self._key = record.partition or ""
        self._id = value["id"] if isinstance(value.get("id"), str) else None
        text = value.get("text")
        self._text = text if isinstance(text, str) else None
        self._row_in = cache(self._found)

    def of_attribute(self, attribute: Record) -> Basis | None:
        """Returns the text that an attribute of the row counts in; None if it has no row for it."""
        asset, now = documents_of(self._view, attribute)
        if asset is None:  # Nothing says what it was made of: it is the row's own if it says so itself.
            return Basis(self._record.asset, self._key, self._row, None if self._text is None else len(self._text))
        row = self._row_in(asset)
        return None if row is None else self._basis(asset, row, now=now)

    def of_own_row(self) -> Basis:
        """Returns the text that the attributes in the row itself count in."""
        asset, now = documents_of(self._view, self._record)
        asset = READ if asset is None or self._text is not None else asset
        if self._text is None and (made := self._made(asset)) is not None and self._row < count_of(made):
            return self._basis(asset, self._row, now=now)
        for row in self._rows_of_id(asset):
            if not (found := self._basis(asset, row, now=True)).differs:
                return found
        known = next(self._rows_of_id(asset), None)
        words = f"they count in the text of {asset}, which is another"
        return Basis(
            asset, self._key, known, None, "it is not known which text they count in" if known is None else words
        )

    def _basis(self, asset: str, row: int, *, now: bool) -> Basis:
        made = self._made(asset)
        assert made is not None
        length = int(made.array_rows(_LENGTHS, row, row + 1)["characters"][0])
        differs = ""
        if not now:
            differs = f"they count in a text that {asset} had before: the attribute is not fresh"
        elif self._text is not None and _digest(self._text) != _digest_at(made, row):
            differs = f"they count in the text of {asset}, which is another"
        elif self._text is not None:
            length = len(self._text)
        return Basis(asset, self._key, row, length, differs)

    def _found(self, asset: str) -> int | None:
        """Returns the row of the same document in an asset of documents; None if it has none."""
        made, own = self._made(asset), self._record.asset
        if made is None or self._id is None or own == asset:
            return None if made is None or self._id is None else self._row
        likely = list(islice(self._rows_of_id(asset), 2))
        if len(likely) < 2:
            return next(iter(likely), None)
        look = self._view.look()
        if (own, asset) == (FILTERED, READ):
            row: int | None = number_before_filter(look, self._key, self._row)
        elif (own, asset) == (READ, FILTERED):
            _, row = filtered(look, self._key, self._row, self._id)
        else:
            return None
        return row if row is not None and row < count_of(made) and id_at(made, row) == self._id else None

    def _rows_of_id(self, asset: str) -> Iterator[int]:
        made = self._made(asset)
        if made is not None and self._id is not None:
            yield from rows_of_id(
                made.array(TEXTS)["id_end"], made.array(IDS), self._id.encode("utf-8", "surrogatepass")
            )

    def _made(self, asset: str) -> Partition | None:
        if asset not in self._view.corpus.graph.stages:
            return None
        made = self._view.partition(asset, self._record.partition)
        return made if made is not None and made.has(IDS) and made.has(TEXTS) else None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _digest_at(made: Partition, row: int) -> bytes:
    found: bytes = made.array_rows(TEXTS, row, row + 1)["digest"][0].tobytes()
    return found


def _row(view: View, record: Record, basis: Basis, identifier: Any) -> dict[str, Any] | None:
    """Returns the row of an attribute that is of a document: it has its number, and says its id."""
    file = lines_file(record)
    if file is None or basis.row is None or basis.row >= (file.rows or 0):
        return None
    (line,) = lines_at(view.handle(record), view.corpus.storage, file, basis.row, 1)
    value = decoded(line)
    return value if isinstance(value, dict) and value.get("id") == identifier else None


def _attributes(asset: str, value: dict[str, Any], basis: Basis) -> Iterator[Attribute]:
    kept, items, named = value.get("kept"), value.get("items"), value.get("attributes")
    for name, spans in named.items() if isinstance(named, dict) else ():
        sound = [
            (int(span[0]), int(span[1]), float(span[2]))
            for span in (spans if isinstance(spans, list) else [])[:MOST_SPANS]
            if isinstance(span, list) and len(span) == 3 and all(isinstance(part, int | float) for part in span)
        ]
        yield Attribute(
            name,
            asset,
            sound,
            kept if isinstance(kept, dict) else None,
            [one for one in items if isinstance(one, dict)][:20] if isinstance(items, list) else [],
            basis,
        )
