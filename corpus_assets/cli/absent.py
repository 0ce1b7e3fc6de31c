"""`corpus verify --absent`: proves that no file of the store holds a document that lists name, or says which may."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from corpus_assets import dataset_names
from corpus_assets.absence.comparable import Comparable
from corpus_assets.absence.result import Absence, Found
from corpus_assets.absence.texts import Names
from corpus_assets.absence.tokens import search_tokens
from corpus_assets.cli.console import FAILED, output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.texts.datasets import text_datasets
from corpus_assets.raw.takedown import KEYS
from corpus_assets.takedown.lists import LIST_BYTES, Entry, all_keys, entries
from corpus_assets.tracing.texts.files import as_document, rows_of
from corpus_assets.tracing.token_files import TokenFile, is_token_file
from corpus_assets.unowned import unowned_files
from resources.config_files import read_outside
from resources.formats.documents import NO_METADATA, Document
from resources.formats.jsonl.compressions import ENDINGS, open_rows
from resources.formats.known import format_of
from resources.ledger.ledger import FileRecord, Ledger, Record, partition_name
from resources.planning.planner import Planner, Status
from resources.raw_places.addresses import scheme_of
from resources.raw_places.named import named_files
from resources.storage.interface import Storage
from resources.storage.s3.client import S3Settings

_MAX_LISTED = 20
_OPTION = "--absent"
_HASHES = "takedown/"
"""Folder of the store with nothing but hashes of names."""


class _Row(msgspec.Struct):
    """The names in a row of any file of lines."""

    id: str | None = None
    source: str = ""
    text: str | None = None
    metadata: msgspec.Raw = NO_METADATA


_ROW = msgspec.json.Decoder(_Row)


def run(config: Path | None, lists: Sequence[str], *, as_json: bool) -> int:
    """Searches the store for the documents that lists name; prints and returns 0 only if all are proven absent.

    lists: files of this machine, or addresses as in `remove.location`.
    """
    corpus = Corpus.open(config, read_only=True)
    named = all_keys(_entries(lists, corpus.settings.values))
    result = absence(corpus, named)
    if as_json:
        print_json({**result.__dict__, "found": [found.__dict__ for found in result.found]})
    else:
        _print(result)
    return FAILED if result.found or result.unproven or result.incomparable else 0


def _entries(lists: Sequence[str], values: Mapping[str, Any]) -> Iterator[Entry]:
    section = (values.get("remove") or {}).get("s3") or values["storage"].get("s3") or {}
    for place in lists:
        yield from entries(_contents(place, S3Settings(**section)), None)


def _contents(place: str, s3: S3Settings) -> dict[str, bytes]:
    """Returns the lists at a place by name. s3: how an object store is reached."""
    if not scheme_of(place):
        return {place: read_outside(_OPTION, place, LIST_BYTES)}
    return {name: file.read(LIST_BYTES) for name, file in named_files(_OPTION, place, s3).items()}


def _print(result: Absence) -> None:
    out = output()
    for found in result.found[:_MAX_LISTED]:
        line = f"{found.partition}: {found.file} row {found.row}: id {found.id!r} ({found.named})"
        print_line(out, line, "found")
    for line in result.unproven[:_MAX_LISTED]:
        print_line(out, line, "unproven")
    for line in result.incomparable[:_MAX_LISTED]:
        print_line(out, line, "not compared")
    hidden = (
        max(0, len(result.incomparable) - _MAX_LISTED)
        + max(0, len(result.found) - _MAX_LISTED)
        + max(0, len(result.unproven) - _MAX_LISTED)
    )
    more = f" ({hidden:,} not shown; --json has all)" if hidden else ""
    print_line(
        out,
        f"{result.entries:,} names searched for in {result.searched:,} rows: {len(result.found):,} rows found, "
        f"{len(result.unproven):,} places unproven{more}",
    )
    if result.incomparable:
        count = f"{len(result.incomparable):,} of {result.entries:,} names"
        print_line(out, f"{count} could be compared with no row, so their absence is not proven")
    if result.texts:
        short = f"; {result.too_short:,} texts are too short to be looked for" if result.too_short else ""
        shared = f"; {result.shared:,} rows hold passages that kept documents have too" if result.shared else ""
        rows = f"{result.token_rows:,} rows of datasets"
        print_line(out, f"{result.texts:,} texts of raw documents looked for in {rows}{shared}{short}")


def absence(corpus: Corpus, named: Mapping[bytes, Entry]) -> Absence:
    """Compares every row of every stored file with the names, and rows of tokens with the texts of named documents.

    An entry with which no row could be compared, as a URL where no document has one, is named: nothing is proven of it.

    Rows of documents, examples, texts and attributes are read. Other files (tokens, arrays, reports) have no names in
    them, and rows without a text not all: such a file holds nothing of a document if its digest is the recorded one and
    its partition is fresh, since it was made, by its recipe, of rows that were read here. What is not fresh, damaged,
    or named by no record is unproven. Datasets are searched for the texts besides, whatever their records say.
    """
    planner = corpus.planner()
    search = _Search(corpus, planner, Names.of(corpus, named))
    ledger = Ledger(corpus.storage, snapshots=False)
    for asset in sorted(ledger.assets()):
        for _, record in sorted(ledger.records(asset).items(), key=lambda item: item[0] or ""):
            search.look_at(record)
    search_tokens(corpus, planner, search.names, search.token_files, search.result)
    search.result.incomparable += search.comparable.faults({one.where: one for one in named.values()}.values())
    unproven = search.result.unproven
    unproven += [f"{path}: damaged record: {why}" for path, why in sorted(ledger.unreadable.items())]
    unproven += [f"{path}: no record names it; `corpus clean` removes it" for path in unowned_files(corpus, ledger)]
    return search.result


class _Search:
    """Looks for names in the files of partitions. token_files: those that may hold ids, if they can be read."""

    def __init__(self, corpus: Corpus, planner: Planner, names: Names) -> None:
        self._storage = corpus.storage
        self._decisions = {(found.asset, found.partition): found for found in planner.plan().decisions}
        self.names = names
        self.comparable = Comparable.of(names)
        own = [files["name"] for files in corpus.settings.inputs()]
        self._reads_raw = {"normalized_documents", *map(dataset_names.examples, own)}
        self._keys = {KEYS, *map(dataset_names.document_keys, own)}
        datasets = text_datasets(corpus.settings.values["datasets"])
        self._texts = {dataset_names.texts(dataset.name): dataset for dataset in datasets}
        self.token_files: list[TokenFile] = []
        self.result = Absence(len({entry.where for entry in names.named.values()}))

    def look_at(self, record: Record) -> None:
        """Adds to the result what the files of one partition hold, or why that cannot be told."""
        name = partition_name(record.asset, record.partition)
        if record.asset in self._reads_raw:
            self.comparable.source((record.partition or "").partition("--")[0], record)
        elif record.asset in self._keys:
            self.comparable.raw_rows(record)
        told = True
        for file in (file for file in record.files if not file.path.startswith(_HASHES)):
            if problem := self._damage(file):
                self.result.unproven.append(f"{name}: {file.path}: {problem}")
                continue
            told &= self._read(name, record.asset, file)
            if is_token_file(file):
                self.token_files.append(TokenFile(record, file))
        if not told and (problem := self._not_fresh(record)):
            self.result.unproven.append(f"{name}: {problem}")

    def _damage(self, file: FileRecord) -> str | None:
        try:
            found = format_of(file.path).digest(self._storage.open, file.path)
        except Exception as error:  # libraries raise almost anything over a damaged file
            return f"cannot be read: {type(error).__name__}: {error}"
        return None if found == file.digest else f"content digest is {found}, its record says {file.digest}"

    def _not_fresh(self, record: Record) -> str | None:
        """Returns why a file without names may have been made of other rows than those that are there now."""
        found = self._decisions.get((record.asset, record.partition))
        if found is None:
            return "no longer part of the corpus; `corpus clean` removes it"
        return None if found.status is Status.FRESH else f"{found.status}: {found.reason or found.blocked}"

    def _read(self, partition: str, asset: str, file: FileRecord) -> bool:
        """Compares the rows of a file; returns whether each had a text, so that all names were compared."""
        dataset = self._texts.get(asset)
        if dataset is None and not file.path.endswith(ENDINGS):
            return False
        rows = map(partial(as_document, dataset=dataset), rows_of(self._storage, dataset, file)) if dataset else None
        all_names = True
        for number, (document, has_text) in enumerate(rows or _documents(self._storage, file)):
            all_names &= has_text
            self.result.searched += 1
            self.comparable.add(document, has_text=has_text)
            if (entry := self.names.entry(document, [document.text] * has_text)) is not None:
                self.result.found.append(Found(partition, file.path, number, document.id, entry.where))
        return all_names


def _documents(storage: Storage, file: FileRecord) -> Iterator[tuple[Document, bool]]:
    """Yields what names the rows of a file of lines, and whether each has a text."""
    with storage.open(file.path) as raw, open_rows(raw, file.path) as lines:
        for line in lines:
            row = _ROW.decode(line)
            metadata = row.metadata if bytes(row.metadata).startswith(b"{") else NO_METADATA
            yield Document(row.id or "", row.text or "", row.source, metadata=metadata), row.text is not None
