"""Decides which entries of a list could be compared: documents without URLs prove nothing about a list of URLs."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from corpus_assets.absence.texts import Names
from corpus_assets.raw.losses import NOT_SAMPLED, TAKEDOWN
from corpus_assets.raw.rows.seen import DERIVED_IDS
from corpus_assets.takedown.keys import DIGEST, PAIR, URL, names_of_metadata, urls_of
from corpus_assets.takedown.lists import Entry
from resources.documents.looked_for import LOOKED_FOR, MOST_NAMES
from resources.formats.documents import Document
from resources.ledger.ledger import Record

_DERIVED: Final = re.compile(r".*:[0-9]+", re.DOTALL)
"""The form of an id that was made from file and row."""


class Comparable:
    """Notes which kinds of names documents have.

    given_ids: sources, and datasets with files of their own, in which a row has its own id.
    """

    def __init__(self, url_keys: tuple[str, ...]) -> None:
        self._url_keys = url_keys
        self._urls = self._urls_as_ids = self._texts = False
        self._sources: set[str] = set()
        self._given_ids: set[str] = set()
        self._metadata: dict[str, None] = {}
        self._rows = 0

    @classmethod
    def of(cls, names: Names) -> "Comparable":
        """Returns the state before the first document."""
        return cls(names.url_keys)

    def source(self, name: str, record: Record) -> None:
        """Notes whether a row of a raw file's partition has its own id."""
        numbers = record.statistics
        dropped = numbers.get("dropped", {})
        rows = sum((numbers.get("rows_out", 0), dropped.get(TAKEDOWN, 0), dropped.get(NOT_SAMPLED, 0)))
        self._sources.add(name)
        if numbers.get(DERIVED_IDS, 0) < rows:
            self._given_ids.add(name)

    def raw_rows(self, record: Record) -> None:
        """Notes the keys of all rows of a raw file, including removed rows, which no other file holds."""
        rows = record.statistics.get("rows_out", 0)
        looked_for = record.statistics.get(LOOKED_FOR, {}).values()
        self._rows += rows
        self._texts |= bool(rows)
        self._urls |= any(found for one in looked_for for found, _ in one["found"]["remove.url_keys"].values())

    def add(self, document: Document, *, has_text: bool) -> None:
        """Notes a row of a document; ignores other rows, such as those of an inventory."""
        if not (document.id or has_text):
            return
        self._rows += 1
        self._texts |= has_text
        self._urls_as_ids |= "://" in document.id
        if not self._urls:
            self._urls = any(urls_of(document, self._url_keys))
            if len(self._metadata) < MOST_NAMES:
                self._metadata |= dict.fromkeys(names_of_metadata(document))

    def faults(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Yields the reason for each entry that could be compared with no document."""
        for entry in entries:
            if why := self._fault(entry):
                yield f"{entry.where}: {entry.shown[:80]!r}: {why}"

    def _fault(self, entry: Entry) -> str | None:
        if not self._rows:
            return "no row is stored that it could be compared with"
        if entry.kind == URL:
            is_id = self._urls_as_ids and not entry.shown.startswith(f"{URL}:")
            keys, there = ", ".join(self._url_keys), ", ".join(list(self._metadata)[:MOST_NAMES]) or "nothing"
            found = (
                f"none of {self._rows:,} rows has a URL under {keys} (`remove.url_keys`); their metadata has: {there}"
            )
            return None if self._urls or is_id else found
        if entry.kind == DIGEST:
            return None if self._texts else f"none of {self._rows:,} rows is one text, of which there could be a digest"
        source = entry.shown.partition("\t")[0] if entry.kind == PAIR else None
        having = self._given_ids if source is None else self._given_ids & {source}
        if having or _DERIVED.fullmatch(entry.shown) or (source is not None and source not in self._sources):
            return None
        return "no row has an id of its own (`id_key`); ids are made from file and row, as `part/file.jsonl:7`"
