"""What is known of some documents of a shard: numbers such as their length and scores, words such as their licence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.filter.assets import FILTERED
from corpus_assets.licences.documents import Licences
from corpus_assets.tracing.look import Look
from corpus_assets.viewer.documents.attributes import documents_of
from corpus_assets.viewer.listing.fates import KEPT, fates_of
from corpus_assets.viewer.listing.recent import Recent
from corpus_assets.viewer.listing.splits import NOT_KNOWN, splits_of
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.reading import TooFarError, lines_at, lines_file
from resources.errors import LedgerError
from resources.formats.attributes import AttributeRow
from resources.ledger.records import Record
from resources.stage.declaration import Partitioning
from resources.stage.partition import Partition

CHARACTERS, BYTES = "characters", "bytes"
SOURCE, FATE, SPLIT, LICENCE, LANGUAGE = "source", "fate", "split", "licence", "language"
WORDS = (SOURCE, FATE, SPLIT, LICENCE, LANGUAGE)
_KEYS_OF_LANGUAGES = ("language", "lang")
_DETECTORS = ("cld2", "cld3", "lang", "lingua")
_ROW = msgspec.json.Decoder(AttributeRow)
_MOST_BYTES = 64 << 20
Numbers = NDArray[np.float64]


class _Line(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"")


_LINE = msgspec.json.Decoder(_Line)
COLUMNS: Recent[Any] = Recent(_MOST_BYTES, lambda column: 8 * len(column) + 64)


@dataclass(frozen=True)
class Block:
    """Documents `first` to `end` of a shard."""

    view: View
    look: Look
    documents: Partition
    first: int
    end: int

    @property
    def source(self) -> str:
        """The source that all of them are of."""
        return shard_source(self.documents.key or "")

    def numbers(self, name: str) -> Numbers:
        """Returns a number of each document; NaN where there is none. name: `CHARACTERS`, `BYTES`, or of an attribute.

        The number of an attribute is the sum of the scores of its spans, as in histograms of scores.
        """
        if name == CHARACTERS:
            return self._table(".lengths.npy", "characters")
        if name == BYTES:
            return self._table(".texts.npy", "bytes")
        found: Numbers = self._column(name, lambda: self._scores(name))
        return found

    def words(self, name: str) -> Sequence[str]:
        """Returns a word for each document. name: one of `WORDS`."""
        if name == SOURCE:
            return [self.source] * (self.end - self.first)
        if name == FATE:
            found = fates_of(self.look, self.documents)
            return [found.names[code] for code in found.codes[self.first : self.end].tolist()]
        if name == SPLIT:
            found = fates_of(self.look, self.documents)
            kept, after = found.chosen(KEPT, self.first, self.end), found.after[self.first : self.end]
            return splits_of(self.look, self.documents, kept, after)
        words: Sequence[str] = self._column(name, self._licences if name == LICENCE else self._languages)
        return words

    def _column(self, name: str, make: Any) -> Any:
        record = self.documents.record
        attributes = tuple(one.recipe for one in self._attributes(name))
        settings = repr(self._licence()) if name == LICENCE else ""
        return COLUMNS.get((record.digest, record.partition, name, attributes, settings, self.first, self.end), make)

    def _table(self, suffix: str, column: str) -> Numbers:
        if not self.documents.has(suffix):
            return np.full(self.end - self.first, np.nan)
        found: Numbers = self.documents.array_rows(suffix, self.first, self.end)[column].astype(np.float64)
        return found

    def _attributes(self, name: str) -> list[Record]:
        """Returns the records of the attributes that a number or a language is read from."""
        wanted = detectors(self.view) if name == LANGUAGE else [asset_of(self.view, name)]
        found = (self.look.records(asset).get(self.documents.key) for asset in wanted if asset)
        return [record for record in found if record is not None]

    def _scores(self, key: str) -> Numbers:
        found = np.full(self.end - self.first, np.nan)
        for record in self._attributes(key):
            for row, line in self._lines(record):
                spans = _ROW.decode(line).attributes.get(key)
                if spans:
                    found[row - self.first] = sum(score for _, _, score in spans)
        return found

    def _lines(self, record: Record) -> Iterator[tuple[int, bytes]]:
        """Yields the lines of an attribute that are of the documents, each with the row of its document."""
        file = lines_file(record)
        if file is None:
            return
        asset, now = documents_of(self.view, record)
        if not now:  # Its rows are of documents that were there before.
            return
        rows = places = np.arange(self.first, self.end)
        if asset == FILTERED:
            after = fates_of(self.look, self.documents).after[self.first : self.end]
            rows, places = rows[after >= 0], after[after >= 0].astype(np.int64)
        if len(places) and int(places[-1]) < (file.rows or 0):
            first, count = int(places[0]), int(places[-1] - places[0]) + 1
            yield from zip(rows.tolist(), self._read(record, first, count), strict=True)

    def _read(self, record: Record, first: int, count: int) -> list[bytes]:
        file = lines_file(record)
        assert file is not None
        try:
            return lines_at(self.view.handle(record), self.view.corpus.storage, file, first, count)
        except TooFarError:
            return []

    def _metadata(self) -> Iterator[msgspec.Raw]:
        for line in self._read(self.documents.record, self.first, self.end - self.first):
            yield _LINE.decode(line).metadata

    def _licence(self) -> tuple[str | None, str | None]:
        for source in self.view.corpus.settings.values["sources"]:
            if source["name"] == self.source:
                return source["licence"], source["licence_key"]
        return None, None

    def _licences(self) -> Sequence[str]:
        licences = Licences(*self._licence())
        if licences.of_all is not None:
            return [licences.of_all] * (self.end - self.first)
        return [licences.of_metadata(one) for one in self._metadata()]

    def _languages(self) -> Sequence[str]:
        records = self._attributes(LANGUAGE)
        found = [NOT_KNOWN] * (self.end - self.first)
        if not records:
            return [_stated(one) for one in self._metadata()]
        for record in records:
            for row, line in self._lines(record):
                scores: dict[str, float] = {}
                for key, spans in _ROW.decode(line).attributes.items():
                    tagger, _, kind = key.partition("__")[2].partition("__")
                    if is_detector(tagger) and not kind.startswith("doc_"):
                        scores[kind] = sum(end * score - start * score for start, end, score in spans)
                if scores:
                    best = max(scores, key=lambda kind: scores[kind])
                    found[row - self.first] = best.replace("not_", "not ")
        return found


def _stated(metadata: msgspec.Raw) -> str:
    """Returns the language that the metadata of a document states."""
    value = msgspec.json.decode(metadata) if bytes(metadata) else None
    words = (value.get(key) for key in _KEYS_OF_LANGUAGES) if isinstance(value, dict) else ()
    return next((word[:40] for word in words if isinstance(word, str) and word), NOT_KNOWN)


def is_detector(tagger: str) -> bool:
    """Returns whether a tagger gives languages, by its name."""
    return any(part in tagger for part in _DETECTORS)


def detectors(view: View) -> list[str]:
    """Returns the first asset with languages of documents, in a list; none if no entry has such a tagger."""
    for entry in view.corpus.settings.values["attributes"]:
        if any(is_detector(tagger) for tagger in entry.get("taggers", [entry["name"]])):
            return [f"{entry['name']}_attributes"]
    return []


def number_names(view: View) -> list[str]:
    """Returns the names of all numbers of documents: lengths, then keys of attributes that are built."""
    return [CHARACTERS, BYTES, *_keys(view)]


def asset_of(view: View, key: str) -> str:
    """Returns the asset with an attribute; empty if there is none."""
    return _keys(view).get(key, "")


def _keys(view: View) -> dict[str, str]:
    return view.looks.get("keys of attributes", lambda: _found_keys(view))


def _found_keys(view: View) -> dict[str, str]:
    found: dict[str, str] = {}
    for stage in view.corpus.graph:
        if stage.partitioning is not Partitioning.SHARD or stage.shard_set is not None:
            continue
        for record in view.present(stage.name).values():
            if not any(file.path.startswith("attributes/") for file in record.files):
                break
            keys = list(record.numbers.get("histograms") or {}) or _in_first_row(view, record)
            found |= dict.fromkeys(keys, stage.name)
    return found


def _in_first_row(view: View, record: Record) -> list[str]:
    """Returns the keys of the first row of an attribute whose record has no histograms."""
    file = lines_file(record)
    if file is None or not file.rows:
        return []
    try:
        (line,) = lines_at(view.handle(record), view.corpus.storage, file, 0, 1)
        return list(_ROW.decode(line).attributes)
    except (LedgerError, OSError, ValueError, msgspec.MsgspecError):
        return []
