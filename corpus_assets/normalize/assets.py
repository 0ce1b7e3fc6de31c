"""Stages that write normalized documents, and mark those that are too short to train on."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec
import numpy as np
from typing_extensions import override

from corpus_assets.normalize import compiled
from corpus_assets.normalize.dates import Dates, undated_notes
from corpus_assets.normalize.reading import READING, DocumentHooks, documents_of, normalizer_of
from corpus_assets.normalize.text import nfc
from corpus_assets.normalize.text_table import TextTable, row_of
from corpus_assets.raw.bad_rows import Gaps, dropped_notes, write_good_rows
from corpus_assets.raw.losses import listed_losses, source_losses
from corpus_assets.raw.rows.identities import Identities
from corpus_assets.raw.takedown import TAKEDOWN, without_named
from resources.formats.attributes import SHORT, SHORT_FLAG_TABLE, Identified
from resources.formats.documents import DOCUMENT_COLUMNS, Document, encode_document
from resources.formats.row_tables import LENGTHS, TEXT, identifiers
from resources.shards.listing import Listing
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.hooks import Records, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

_LONG = 1 << 20
"""Code points of a text of which no more is held than must be."""

ATTRIBUTE_COLUMNS = {
    "id": "string: of the document in the same row",
    "attributes": "json: name of each attribute to its spans, [start, end, value] in code points",
    "source": "string: of the document",
}


def normalized_documents(task: Task) -> None:
    """Reads one raw file in any format, normalizes its texts, and writes Dolma documents and their digests."""
    shard = task.shard
    path = f"documents/{shard.source}/{shard.name}"
    fix = normalizer_of(task.parameters)
    gaps = Gaps()
    rows = without_named(task, documents_of(task, gaps), TAKEDOWN, gaps)
    write_good_rows(task, rows, task["source.on_bad_file"], partial(_write_documents, task, path, fix))
    gaps.save(task, path)


def _write_documents(task: Task, path: str, fix: Callable[[str], str], rows: Iterator[Document]) -> None:
    with (
        task.array(f"{path}.lengths.npy", LENGTHS, derived=True) as lengths,
        task.array(f"{path}.ids.npy", np.uint8) as ids,
        task.array(f"{path}.texts.npy", TEXT) as texts,
        task.documents(f"{path}.jsonl") as documents,
    ):
        table = TextTable(texts, ids, lengths)
        identities, dates = Identities(), Dates()
        for document in rows:
            documents.write(_normalized_line(document, fix))
            row = row_of(document)
            table.add(row)
            identities.add(document.id)
            dates.add(document, row.created)
        table.flush()
    task.segments |= table.segments()
    rows_out = documents.written.rows
    task.count(rows_in=rows_out + sum(task.dropped().values()), rows_out=rows_out, text_bytes=table.text_bytes)
    task.count(lengths=table.lengths, **dates.numbers())
    identities.count(task)


def _normalized_line(document: Document, fix: Callable[[str], str]) -> bytes:
    """Normalizes the text of a document; returns its line."""
    if fix is not nfc or len(document.text) >= _LONG:
        document.text = fix(document.text)
        return encode_document(document)
    # Encoded first, since that leaves the UTF-8 of a text with it, which `nfc` and the tables need too.
    line, text = encode_document(document), nfc(document.text)
    if text == document.text:
        return line
    document.text = text
    return encode_document(document)


def short_documents(task: Task) -> None:
    """Marks the documents whose cleaned text is shorter than the threshold, as a row-aligned Dolma attribute."""
    threshold = task["short_documents.threshold"]
    short = 0
    with task.attributes("short_documents", SHORT_FLAG_TABLE) as out:
        for document, characters, cleaned in _measured(task.input("normalized_documents"), task.shard.source):
            is_it = cleaned < threshold
            out.add(document, {SHORT: [(0, characters, float(is_it))]}, flagged=is_it)
            short += is_it
    task.count(rows_in=out.rows, rows_out=out.rows, short=short, short_share=round(short / max(1, out.rows), 6))


class _Named(msgspec.Struct):
    """The identity of a document."""

    id: str
    source: str


def _measured(documents: Partition, source: str) -> Iterator[tuple[Identified, int, int]]:
    """Yields each document of a shard with the lengths of its text and of its cleaned text, in code points."""
    ids = identifiers(documents.array(".texts.npy")["id_end"], documents.array(".ids.npy"))
    for identifier, lengths in zip(ids, documents.array(".lengths.npy").tolist(), strict=True):
        yield _Named(identifier, source), *lengths


class NormalizedHooks(DocumentHooks):
    """The hooks of normalized documents."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_documents(settings)

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return source_losses(records, settings, listing)

    @override
    def gate_listing(self, settings: Values, listing: Listing) -> Sequence[str]:
        return listed_losses(settings, listing)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on the dropped rows of sources, and on configured names that no row has."""
        yield from dropped_notes(partitions, settings)
        if "newest" in settings["dedup"]["keep"]:
            yield from undated_notes(partitions)


NORMALIZED_DOCUMENTS = Stage(
    name="normalized_documents",
    group="documents",
    unit_in="raw rows",
    unit_out="documents",
    description="Documents of one raw file in the Dolma schema: texts normalized, order and metadata kept.",
    partitioning=Partitioning.SHARD,
    compute=normalized_documents,
    code_version="2",
    io="documents",
    inputs=(same("raw_source"),),
    parameters=READING,
    hooks=NormalizedHooks(),
    columns=DOCUMENT_COLUMNS,
    kinds=("jsonl", "dolma"),
)

SHORT_DOCUMENTS = Stage(
    name="short_documents",
    group="deduplication",
    unit_in="documents",
    unit_out="documents",
    description="Marks documents with fewer cleaned characters than the threshold; the mix leaves them out.",
    partitioning=Partitioning.SHARD,
    compute=short_documents,
    code_version="2",
    io="documents",
    inputs=(same("normalized_documents"),),
    parameters=("short_documents.threshold",),
    columns=ATTRIBUTE_COLUMNS,
    kinds=("jsonl", "dolma"),
)
